import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * What tests put among the temporary files is in one folder, and gone when they are over: also what a killed process
 * left. Settings that cannot be read lie above the tests' projects: a test that looks up there fails on every machine.
 */
export default function setup(): () => void {
  // Short, since sockets lie in there too, and their paths may have a hundred characters.
  const folder = mkdtempSync(join(outsideRepositories(), 'tf-'));
  mkdirSync(join(folder, '.pi/taskflows'), { recursive: true });
  writeFileSync(join(folder, '.pi/taskflows/config.yaml'), 'a test reads what is above its project: [\n');
  const usual = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  return () => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** Git finds a repository above whatever a test does, and some tests are about folders that are in none. */
function outsideRepositories(): string {
  const places = [tmpdir(), '/tmp', '/var/tmp'].filter((place) => existsSync(place));
  const found = places.find((place) => !isInRepository(realpathSync(place)));
  if (found === undefined)
    throw new Error(`${places.join(', ')}: all in a git repository; set TMPDIR to a folder outside`);
  return found;
}

function isInRepository(folder: string): boolean {
  return existsSync(join(folder, '.git')) || (folder !== dirname(folder) && isInRepository(dirname(folder)));
}

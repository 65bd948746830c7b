// `npm run test:long`: files that take long (`*.long.test.ts`), and those that can try harder (they use
// test/support/effort.ts, or read TASKFLOW_STEPS) do so.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(`${root}test`, { recursive: true })
  .filter((file) => file.endsWith('.test.ts') && !/^(clients|nodes|remote|workers|ui\/browser)\//.test(file))
  .map((file) => `test/${file}`)
  .filter(
    (file) =>
      file.endsWith('.long.test.ts') ||
      /support\/effort\.js|TASKFLOW_STEPS/.test(readFileSync(`${root}${file}`, 'utf8')),
  );

const env = { TASKFLOW_STEPS: '1000', ...process.env, TASKFLOW_FULL: '1' };
const vitest = ['vitest', 'run', '--testTimeout=600000', ...files, ...process.argv.slice(2)];
const { status, error } = spawnSync('npx', vitest, { cwd: root, env, stdio: 'inherit' });
if (error) throw error;
process.exitCode = status ?? 1;

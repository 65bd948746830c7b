import { startDetached } from '../../../process/start-detached.js';
import type { Project } from '../../../util/project.js';

/** Only programs in these folders: never one that a project or a setting names. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  linux: ['/usr/bin/xdg-open', '/usr/local/bin/xdg-open'],
  darwin: ['/usr/bin/open'],
};

/** Shows the address in the user's browser; returns why if it cannot. */
export async function openBrowser({ home, env }: Project, url: string): Promise<string | undefined> {
  for (const program of OPENERS[process.platform] ?? []) {
    const started = await startDetached({ argv: [program, url], cwd: home, env });
    if (!('failed' in started)) return undefined;
  }
  return 'no browser could be started: open the address yourself';
}

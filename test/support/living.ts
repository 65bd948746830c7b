import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** Processes that work in a folder or below it, whoever their parent is. Zombies are dead. */
export function livingIn(root: string): number[] {
  const found = existsSync('/proc/self/cwd') ? fromProc(root) : fromLsof(realpathSync(root));
  return found.filter((pid) => pid !== process.pid);
}

function fromProc(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(root)) return false;
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
      } catch {
        // Gone, or not ours to look at.
        return false;
      }
    });
}

/** Lines `p123` and `n/its/working/folder`; zombies have no folder. */
function fromLsof(root: string): number[] {
  const { stdout } = spawnSync('lsof', ['-a', '-d', 'cwd', '-Fpn'], { encoding: 'utf8' });
  return [...stdout.matchAll(/^p(\d+)\n(?:f.*\n)?n(.*)$/gm)]
    .filter(([, , folder]) => folder!.startsWith(root))
    .map(([, pid]) => Number(pid));
}

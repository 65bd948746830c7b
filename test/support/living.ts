import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Processes that work in a folder or below it, whoever their parent is. Zombies are dead. */
export function livingIn(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (pid === process.pid || !readlinkSync(`/proc/${pid}/cwd`).startsWith(root)) return false;
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
      } catch {
        // Gone, or not ours to look at.
        return false;
      }
    });
}

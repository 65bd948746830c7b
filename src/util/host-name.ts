import { readFileSync } from 'node:fs';

/** What `os.hostname()` says; on Linux without loading that module, which every run would do for this alone. */
export function hostName(): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync('/proc/sys/kernel/hostname', 'utf8').trimEnd();
    } catch {
      // No /proc: the usual way.
    }
  }
  return process.getBuiltinModule('node:os').hostname();
}

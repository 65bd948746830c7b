import { spawnSync } from 'node:child_process';

/** Why processes cannot be given ids of their own here, as containers have them; undefined when they can. */
export function whyNoContainers(): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `unshare is not allowed here: ${error?.message ?? stderr.trim()}`;
}

/** Mounts a small disk on a folder that there is; why it cannot be done, otherwise. */
export function mountSmallDisk(folder: string, size: string): string | undefined {
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `mount is not allowed here: ${error?.message ?? stderr.trim()}`;
}

export function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder]);
}

/** To a process, or to a group (a negative number). One that is gone, or another user's, is not an error. */
export function sendSignal(pidOrGroup: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pidOrGroup, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** Whether a signal could be sent: the only sign of life where there is no /proc. */
export function answersSignals(pidOrGroup: number): boolean {
  try {
    return process.kill(pidOrGroup, 0);
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

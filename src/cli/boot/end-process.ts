import { EXIT } from '../errors/exit-status.js';
import { createWriter, lostOutput } from '../terminal/writer.js';

/** All output is synchronous, so ending at once loses nothing, and a forgotten timer cannot delay the end. */
export function endProcess(status: number): void {
  process.exit(status);
}

/** A command whose result could not be written has failed. */
export function withLostOutput(status: number): number {
  const lost = lostOutput();
  if (lost === undefined) return status;
  createWriter({ fd: 2, color: 'auto', env: process.env }).write(`taskflow: cannot write the result: ${lost}\n`);
  return status || EXIT.failed;
}

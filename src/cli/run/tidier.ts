import { join } from 'node:path';

/** The program that tidies a large store, in the folder of the command itself. None where nothing was built. */
export const TIDIER = typeof __dirname === 'string' ? join(__dirname, 'tidy.cjs') : undefined;

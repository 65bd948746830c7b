import { describe } from 'vitest';
import { TracedProcess } from '../../src/observe/traced.js';
import { describeProcesses } from '../contracts/run-process.js';
import { STRACE } from '../support/traced.js';

describe.skipIf(STRACE === undefined)('a process that is traced', () => {
  describeProcesses((root) => ({ trace: new TracedProcess({ strace: STRACE!, root }) }));
});

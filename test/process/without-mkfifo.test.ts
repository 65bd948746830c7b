import { expect, test } from 'vitest';
import { takePipe } from '../../src/process/pipes.js';
import { describeProcesses } from '../contracts/run-process.js';

// Where there is no `mkfifo`, Node's own pipes have to do. It is looked for once.
const { PATH } = process.env;
process.env['PATH'] = '/nowhere';
const pipe = takePipe();
process.env['PATH'] = PATH;

test('without mkfifo there are no pipes of ours, and none are looked for again', () => {
  expect(pipe).toBeUndefined();
  expect(takePipe()).toBeUndefined();
});

describeProcesses();

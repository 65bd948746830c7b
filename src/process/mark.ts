import { randomBytes } from 'node:crypto';

/** A variable that no other process tree has: see `ProcessRequest.marked`. */
export interface Mark {
  readonly name: string;
  readonly value: string;
}

const NAME = 'TASKFLOW_PROCESS';
let count = 0;
let prefix: string | undefined;

export function nextMark(): Mark {
  prefix ??= randomBytes(9).toString('base64url');
  count += 1;
  return { name: NAME, value: `${prefix}.${count}` };
}

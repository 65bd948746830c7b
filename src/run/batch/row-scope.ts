import type { RunContext } from '../context/context.js';
import { Admission } from '../core/admission.js';
import { argumentsDigest } from '../core/run-group.js';
import { ownScope, type Scope } from '../core/scope.js';
import type { BatchRow } from './rows/bind-rows.js';

export function rowPath({ place }: Pick<BatchRow, 'place'>): string {
  return `rows/${place}`;
}

export function rowScope({ options, limits: { admission }, reuse: { effects } }: RunContext, row: BatchRow): Scope {
  effects.nameRow(row.place, argumentsDigest({ ...options, args: row.args }));
  // A row that fails ends itself; what ends the batch ends every row.
  return ownScope({ flow: options.flow, args: row.args }, new Admission(admission), rowPath(row));
}

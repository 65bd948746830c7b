import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { collectGarbage } from '../../store/collect-garbage.js';
import { lowWater } from '../../store/low-water.js';
import { decodeTidyRequest } from '../../store/tidy-request.js';
import { systemClock } from '../../util/clock.js';

// A program of its own: a run starts it when the store is large and wants tidying, and does not wait for it.
try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // Then with the usual priority.
}
const options = decodeTidyRequest(readFileSync(0, 'utf8'), { env: process.env, clock: systemClock });
// Who tidies at this moment does it as well.
void collectGarbage(options, { limits: lowWater(options.limits), patienceMs: 0 });

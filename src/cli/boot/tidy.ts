import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { collectGarbage } from '../../store/collect-garbage.js';
import { lowWater } from '../../store/low-water.js';
import { decodeTidyRequest } from '../../store/tidy-request.js';
import { systemClock } from '../../util/clock.js';

// A program of its own: a run starts it when a large store is due for tidying, and does not wait for it.
try {
  setPriority(constants.priority.PRIORITY_LOW);
} catch {
  // Not allowed here: the usual priority will do.
}
const options = decodeTidyRequest(readFileSync(0, 'utf8'), { env: process.env, clock: systemClock });
// No patience: another process that tidies now does the same work.
void collectGarbage(options, { limits: lowWater(options.limits), patienceMs: 0 });

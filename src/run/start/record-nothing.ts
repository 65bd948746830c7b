import { lookAtCheckpoint, lookAtRun } from '../continue/look-at-prior.js';
import { PriorResults } from '../continue/prior-results.js';
import type { RunOptions } from '../core/options.js';
import type { JournalWriter } from '../journal/writer.js';
import type { Continued, Recording } from './recording.js';

/** For a forecast: reads earlier results where they are. */
export function recordNothing(
  options: RunOptions,
  { decision, imported }: Continued,
  journal: JournalWriter,
): Recording {
  return {
    journal,
    prior: () => {
      if (imported) return lookAtCheckpoint(imported);
      if (decision.previous) return lookAtRun(options, decision.previous, decision.how);
      return new PriorResults({ how: 'none', journal: journal.path });
    },
    refuse: () => {},
    begin: () => {},
    end: (context) => context.close(),
  };
}

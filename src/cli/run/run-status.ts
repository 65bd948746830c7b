import type { RunResult } from '../../run/core/result.js';
import { EXIT } from '../errors/exit-status.js';

export function exitStatusOf(result: Pick<RunResult, 'status' | 'error'>): number {
  switch (result.status) {
    case 'success':
      return EXIT.success;
    case 'blocked':
      return EXIT.blocked;
    case 'paused':
      return EXIT.waiting;
    case 'over-budget':
      return EXIT.overBudget;
    case 'interrupted':
      return EXIT.interrupted;
    case 'failed':
      if (result.error?.code === 'in-doubt') return EXIT.waiting;
      return result.error?.code === 'frozen' ? EXIT.frozenMiss : EXIT.failed;
  }
}

import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import type { Scope } from './scope.js';

const MOST_DEPTH = 20;
const MOST_GENERATED_DEPTH = 5;

/** Why a flow may not be entered from here; undefined when it may. */
export function tooDeep(scope: Scope, flow: Flow, generated: boolean): Failure | undefined {
  const name = flow.file ?? flow.name;
  if (!generated && flow.file !== undefined && scope.ancestry.includes(name)) {
    return { code: 'limit', message: `the flow uses itself: ${[...scope.ancestry, name].join(' → ')}` };
  }
  const most = generated || scope.generated ? MOST_GENERATED_DEPTH : MOST_DEPTH;
  if (scope.depth + 1 <= most) return undefined;
  return { code: 'limit', message: `flows are nested more than ${most} deep` };
}

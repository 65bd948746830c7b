import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';

/** Placeholders without a value: a failure where the flow is strict, else a warning and a result that is not kept. */
export function unresolvedIn(
  at: PhaseContext,
  names: readonly string[],
): { readonly failure?: Failure; readonly unkeepable?: string } {
  if (names.length === 0) return {};
  const list = [...new Set(names)].map((name) => `{${name}}`).join(', ');
  if (at.scope.flow.strictInterpolation) {
    return {
      failure: {
        code: 'unresolved',
        message: `no value for ${list}`,
        hint: hintFor(names[0]!),
      },
    };
  }
  at.run.io.emit({ type: 'warning', phase: at.path, message: `no value for ${list}: left as text` });
  return { unkeepable: `no value for ${list}` };
}

function hintFor(name: string): string {
  const argument = /^args\.([^.]+)/.exec(name)?.[1];
  return argument === undefined
    ? 'Look at the output that it points into with `taskflow trace`.'
    : `Give it with --arg ${argument}=…, or a default in \`args\`.`;
}

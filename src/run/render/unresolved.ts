import type { Failure } from '../../model/failure.js';
import { parseTemplate } from '../../plan/template.js';
import type { PhaseContext } from '../context/phase-context.js';
import { itemNameOf, lookupIn, type Site } from './render.js';

/** Placeholders without a value: a failure where the flow is strict, else a warning and a result that is not kept. */
export function unresolvedIn(
  at: PhaseContext,
  names: readonly string[],
): { readonly failure?: Failure; readonly unkeepable?: string } {
  if (names.length === 0) return {};
  const failure = unreadableIn(at, names);
  if (failure) return { failure };
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

/** A placeholder that has a value, which is too large for a text or cannot be read. */
export function unreadableIn(site: Site, names: readonly string[]): Failure | undefined {
  const lookup = lookupIn(site, {});
  for (const name of names) {
    const { segments } = parseTemplate(`{${name}}`, itemNameOf(site.phase));
    const found = segments[0]?.type === 'ref' ? lookup(segments[0].ref) : undefined;
    if (found && 'failure' in found && found.failure) {
      return { ...found.failure, message: `{${name}}: ${found.failure.message}` };
    }
  }
  return undefined;
}

function hintFor(name: string): string {
  const argument = /^args\.([^.]+)/.exec(name)?.[1];
  return argument === undefined
    ? 'Look at the output that it points into with `taskflow trace`.'
    : `Give it with --arg ${argument}=…, or a default in \`args\`.`;
}

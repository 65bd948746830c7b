import type { Failure } from '../../model/failure.js';
import type { MapPhase } from '../../model/flow.js';
import type { JsonValue } from '../../model/json.js';
import { grouped } from '../../util/format.js';
import { mapInTurns } from '../../util/turn.js';
import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore } from '../core/execution.js';
import { renderValue } from '../render/render.js';
import { unreadableIn } from '../render/unresolved.js';
import { whyEntered } from '../reuse/why-missed.js';
import { settleComposite } from './aggregate.js';
import { fanOut } from './fan-out.js';
import type { KindHandler } from './kind.js';
import { listOf } from './list-of.js';

const MOST_ITEMS_OF_GENERATED = 200;

export const mapKind: KindHandler<MapPhase> = {
  run: async (at) => {
    const items = itemsOf(at);
    if ('failure' in items) return settleComposite(at, failedBefore(items.failure), whyEntered(at));
    const { body, as: name } = at.phase;
    const specOf = (value: JsonValue, index: number) => ({
      label: `item ${index + 1}`,
      body,
      variables: { item: { name, value } },
    });
    const specs = await mapInTurns(items.list, specOf, at.signal);
    return fanOut(at, specs, { remark: items.took });
  },
};

function itemsOf(
  at: PhaseContext<MapPhase>,
): { readonly list: readonly JsonValue[]; readonly took?: string } | { readonly failure: Failure } {
  const { over } = at.phase;
  const rendered = renderValue(at, over as JsonValue);
  if (rendered.unresolved.length > 0) {
    const failure = unreadableIn(at, rendered.unresolved);
    if (failure) return { failure };
    return bad(
      `\`over\` has no value for {${rendered.unresolved[0]}}`,
      'Look at what that phase said with `taskflow trace`.',
    );
  }
  const most = at.run.options.config.limits.items;
  const found = listOf(rendered.value, most);
  if ('problem' in found) {
    return bad(
      `\`over\` is no list: ${found.problem}`,
      'Let the phase before it have `output: json` and return a list.',
    );
  }
  const { list } = found;
  if (list.length > most) {
    return {
      failure: {
        code: 'limit',
        message: `\`over\` has more than ${grouped(most)} items`,
        hint: 'Divide the list, or raise `limits.items` in the settings.',
      },
    };
  }
  if (at.scope.generated && list.length > MOST_ITEMS_OF_GENERATED) {
    return {
      failure: {
        code: 'limit',
        message: `a generated flow maps over ${MOST_ITEMS_OF_GENERATED} items at most, not ${list.length}`,
      },
    };
  }
  return found;
}

function bad(message: string, hint: string): { failure: Failure } {
  return { failure: { code: 'bad-input', message, hint } };
}

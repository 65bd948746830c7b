import type { Failure } from '../../model/failure.js';
import type { MapPhase } from '../../model/flow.js';
import type { JsonValue } from '../../model/json.js';
import type { Output } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore, type Settled } from '../core/execution.js';
import { jsonWithin } from '../core/output.js';
import { renderValue } from '../render/render.js';
import { whyEntered } from '../reuse/why-missed.js';
import { settleComposite } from './aggregate.js';
import { fanOut, unitValue } from './fan-out.js';
import type { KindHandler } from './kind.js';

const MOST_ITEMS_OF_GENERATED = 200;

export const mapKind: KindHandler<MapPhase> = {
  run: async (at) => {
    const items = itemsOf(at);
    if ('failure' in items) return settleComposite(at, failedBefore(items.failure), whyEntered(at));
    const specs = items.list.map((value, index) => ({
      label: `item ${index + 1}`,
      body: at.phase.body,
      variables: { item: { name: at.phase.as, value } },
    }));
    return fanOut(at, specs, (units) => combined(at, units));
  },
};

function combined(at: PhaseContext, units: readonly Settled[]): Output {
  const text = units.map((unit) => unit.output.text).join('\n\n');
  return { text, json: units.map((unit) => unitValue(at, unit)) };
}

function itemsOf(at: PhaseContext<MapPhase>): { list: readonly JsonValue[] } | { failure: Failure } {
  const { over } = at.phase;
  const rendered = renderValue(at, over as JsonValue);
  if (rendered.unresolved.length > 0) {
    return bad(
      `\`over\` has no value for {${rendered.unresolved[0]}}`,
      'Look at what that phase said with `taskflow trace`.',
    );
  }
  const list = asList(rendered.value);
  if (!list)
    return bad(
      `\`over\` is no list: ${JSON.stringify(rendered.value).slice(0, 120)}`,
      'Let the phase before it have `output: json` and return a list.',
    );
  if (at.scope.generated && list.length > MOST_ITEMS_OF_GENERATED) {
    return {
      failure: {
        code: 'limit',
        message: `a generated flow maps over ${MOST_ITEMS_OF_GENERATED} items at most, not ${list.length}`,
      },
    };
  }
  return { list };
}

/** A list; a text that is one; the lines of a text. An empty text (a skipped phase) is an empty list. */
function asList(value: JsonValue): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return undefined;
  if (value.trim() === '') return [];
  const within = jsonWithin(value);
  if (Array.isArray(within)) return within;
  if (within !== undefined) return undefined;
  return value.split(/\r?\n/).filter((line) => line.trim() !== '');
}

function bad(message: string, hint: string): { failure: Failure } {
  return { failure: { code: 'bad-input', message, hint } };
}

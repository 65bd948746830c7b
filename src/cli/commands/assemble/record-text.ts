import type { AssembledRecord, PlanEnding, Round } from '../../../assemble/record.js';
import type { JsonObject } from '../../../model/json.js';
import { formatCost, plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';

const ENDINGS: Readonly<Record<PlanEnding, string>> = {
  complete: 'complete',
  rounds: 'out of rounds',
  money: 'out of money',
  runner: 'no answer',
  disk: 'could not be kept',
  interrupted: 'interrupted',
  limit: 'at a usage limit',
  'under-way': 'cut short, or still under way',
};

/** `complete`; `out of rounds: the example case1 failed: …`. */
export function endingText({ ended, error }: Pick<AssembledRecord, 'ended' | 'error'>): string {
  const isPlain = ended === 'complete' || error === undefined || error === ended;
  return isPlain ? ENDINGS[ended] : `${ENDINGS[ended]}: ${oneLine(error)}`;
}

/** A flow as people read flows. */
export async function flowYaml(flow: JsonObject): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(flow, { lineWidth: 110 });
}

export function roundLines(rounds: readonly Round[]): string[] {
  return rounds.flatMap(({ how, diagnostics, examples, spent, answer }, index) => [
    `round ${index + 1}${how === 'kept' ? ' (an earlier flow again)' : ''}: ${formatCost(spent)}`,
    ...(answer === undefined ? [] : [`  said: ${oneLine(answer).slice(0, 200)}`]),
    ...diagnostics.map((line) => `  check: ${oneLine(line)}`),
    ...examples.map(({ name, ok, why }) => `  ${oneLine(name)}: ${ok ? 'good' : oneLine(why ?? 'failed')}`),
  ]);
}

export function usesText({ agents, runners, flows }: AssembledRecord['uses']): string {
  const names = [
    ...Object.keys(agents).map((name) => `agent ${name}`),
    ...Object.keys(runners).map((name) => (name === '' ? "the project's runner" : `runner ${name}`)),
    ...Object.keys(flows).map((name) => `flow ${name}`),
  ];
  return names.length === 0 ? 'nothing' : names.join(', ');
}

export function triesText({ rounds, examples }: AssembledRecord): string {
  return `${plural(rounds.length, 'round')}, ${plural(examples.length, 'example')}`;
}

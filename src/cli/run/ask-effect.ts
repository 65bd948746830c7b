import type { EffectAnswer, EffectQuestion } from '../../run/core/options.js';
import { inputLines } from '../../run/effects/doubt.js';
import { sanitize } from '../../util/terminal-text.js';
import type { Writer } from '../boot/command.js';
import { createStyle } from '../terminal/style.js';
import { askPerson } from './ask-person.js';

/** Shows what a side effect was and what it would be now. Without a clear answer it stays undecided. */
export async function askEffect(
  { phase, unit, before, now, signal }: EffectQuestion,
  err: Writer,
  suspendView: () => () => void,
): Promise<EffectAnswer> {
  const style = createStyle(err.color);
  const name = unit === undefined ? phase : `${phase} (${unit})`;
  const shown = [
    '',
    style.bold(`${name} is done already, and would now be something else`),
    style.dim('it was done with'),
    sanitize(inputLines(before)),
    style.dim('and would now be done with'),
    sanitize(inputLines(now)),
    '',
  ].join('\n');
  const question = { text: shown, prompt: PROMPT, read: readEffectAnswer, signal };
  return (await askPerson(question, err, suspendView)) ?? 'stop';
}

const PROMPT = 'do it again (r), keep it as done (k), or stop here (s): ';

/** Undefined for anything else, so that no side effect starts by accident. */
function readEffectAnswer(line: string): EffectAnswer | undefined {
  const text = sanitize(line).trim().toLowerCase();
  if (text === 'r' || text === 'rerun') return 'rerun';
  if (text === 'k' || text === 'keep' || text === 'skip') return 'keep';
  return text === 's' || text === 'stop' ? 'stop' : undefined;
}

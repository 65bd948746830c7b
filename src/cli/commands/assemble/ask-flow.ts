import type { AssembledRecord } from '../../../assemble/record.js';
import { isJsonObject, type JsonValue } from '../../../model/json.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Invocation } from '../../boot/command.js';
import { askPerson } from '../../run/ask-person.js';

/** Whether there is a person to ask. */
export function canAsk({ err, stdin, flags }: Invocation): boolean {
  return err.isLive && stdin.isTerminal && !flags.boolean('json') && !flags.boolean('events');
}

/** Shows a flow in short, and asks whether to go on with it. No answer means no. */
export async function askAboutFlow(
  { err }: Invocation,
  { record, why, signal }: { readonly record: AssembledRecord; readonly why: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const scripts = record.allowScripts ? '  commands are allowed in it\n' : '';
  const answer = await askPerson<'yes' | 'no'>(
    {
      text: `${why}\n${phaseLines(record).join('')}${scripts}  all of it: taskflow assemble show ${record.id}\n`,
      prompt: 'go on with it? [y/N] ',
      read: (line) => (/^y(es)?$/i.test(line.trim()) ? 'yes' : 'no'),
      signal,
    },
    err,
    () => () => {},
  );
  return answer === 'yes';
}

function phaseLines({ flow }: AssembledRecord): string[] {
  const phases = flow?.['phases'];
  return (Array.isArray(phases) ? (phases as readonly JsonValue[]) : []).map((phase) => {
    const { id, type = 'agent', task, run, use } = isJsonObject(phase) ? phase : {};
    const does = [task, run, use].find((value) => value !== undefined) ?? '';
    return `  ${oneLine(`${id} (${type}): ${typeof does === 'string' ? does : JSON.stringify(does)}`).slice(0, 110)}\n`;
  });
}

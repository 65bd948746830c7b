import type { AssembleEventBody } from '../../../assemble/events.js';
import { formatDuration } from '../../../util/duration.js';
import { formatSpent, plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Invocation } from '../../boot/command.js';
import { createStyle, type Style } from '../../terminal/style.js';
import { limitText } from '../../text/limit-text.js';

/** The line of a step that begins; on a terminal, the line of its end replaces it. */
interface Line {
  readonly text: string;
  readonly stays: boolean;
}

/** Shows the steps of assembling: a list on a terminal, plain lines elsewhere. */
export function showingSteps({ err, flags, project }: Invocation): (event: AssembleEventBody) => void {
  if (flags.boolean('quiet')) return () => {};
  const style = createStyle(err.color);
  let isOpen = false;
  return (event) => {
    const line = lineOf(event, style, project.clock.now());
    if (!line) return;
    if (!err.isLive) {
      err.write(`${line.text}\n`);
      return;
    }
    if (isOpen) err.draw('\r\x1b[2K');
    isOpen = !line.stays;
    err.write(line.stays ? `${line.text}\n` : cut(line.text, err.columns - 1));
  };
}

/** A line that is replaced must not wrap. */
function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
}

function lineOf(event: AssembleEventBody, style: Style, now: number): Line | undefined {
  const stays = (text: string): Line => ({ text, stays: true });
  const begins = (text: string): Line => ({ text: `${style.cyan('▸')} ${text}`, stays: false });
  const good = (text: string) => stays(`${style.green('✔')} ${text}`);
  const bad = (text: string) => stays(`${style.red('✖')} ${text}`);
  switch (event.type) {
    case 'assemble-start':
      return stays(`${style.bold(oneLine(event.task).slice(0, 80))} ${style.dim(event.inputId.slice(0, 16))}`);
    case 'assemble-found':
      return stays(`${style.green('●')} reused: ${event.id}`);
    case 'assemble-changed':
      return stays(`${style.yellow('↻')} ${event.id} is repaired: ${event.changed.map(oneLine).join(', ')}`);
    case 'assemble-continues':
      return stays(`${style.yellow('↻')} going on from ${event.id} (${plural(event.rounds, 'round')})`);
    case 'assemble-foreign': {
      const what = `${event.id} was not made by you here and is not used`;
      return stays(`${style.yellow('warning:')} ${what}; taskflow assemble show ${event.id}`);
    }
    case 'assemble-waiting':
      return stays(`${style.dim('…')} ${event.for} plans the same thing: waiting for it`);
    case 'assemble-asking': {
      const model = event.model === undefined ? '' : ` (${oneLine(event.model)})`;
      return begins(`round ${event.round}: asking ${oneLine(event.runner)}${model} for a flow`);
    }
    case 'assemble-answered':
      return stays(`${style.green('✔')} round ${event.round}: an answer ${style.dim(costText(event))}`);
    case 'assemble-checked': {
      const [first, ...more] = event.problems;
      if (first === undefined) return good(`round ${event.round}: the flow checks`);
      const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
      return bad(`round ${event.round}: ${oneLine(first)}${rest}`);
    }
    case 'assemble-trying':
      return begins(`round ${event.round}: trying ${oneLine(event.example)}`);
    case 'assemble-tried': {
      const name = `round ${event.round}: ${oneLine(event.example)}`;
      const cost = style.dim(costText(event));
      return event.ok ? good(`${name} ${cost}`) : bad(`${name}: ${oneLine(event.why ?? 'failed')} ${cost}`);
    }
    case 'assemble-limit':
      return stays(`${style.yellow('…')} ${limitText({ ...event, at: now })}`);
    case 'assemble-stored':
      return stays(`${style.dim('kept as')} ${event.id}`);
    case 'assemble-warning':
      return stays(`${style.yellow('warning:')} ${oneLine(event.message)}`);
  }
}

function costText({ spent, durationMs }: Extract<AssembleEventBody, { readonly durationMs: number }>): string {
  const cost = formatSpent(spent);
  return cost === '–' ? formatDuration(durationMs) : `${cost}, ${formatDuration(durationMs)}`;
}

import { useState } from 'preact/hooks';
import { grouped } from '../../util/format.js';
import { sanitize, visible } from '../../util/terminal-text.js';
import type { ShownText } from '../view/types.js';
import { announcement } from './state.js';

const FOLDED_LINES = 14;
const FOLDED_CHARS = 1_600;

/** A text from outside: never treated as markup, and folded if it is long. */
export function Quoted({
  of,
  label,
  exact,
}: {
  readonly of: ShownText;
  readonly label: string;
  readonly exact?: boolean;
}) {
  const [open, setOpen] = useState(false);
  const text = (exact ? visible : sanitize)(of.text);
  const lines = text.split('\n');
  const isLong = lines.length > FOLDED_LINES || text.length > FOLDED_CHARS;
  const shown = open || !isLong ? text : lines.slice(0, FOLDED_LINES).join('\n').slice(0, FOLDED_CHARS);
  return (
    <div class="quoted">
      <div class="quoted-bar">
        <span class="label">{label}</span>
        <Copy text={of.text} what={label} />
      </div>
      {text === '' && <p class="none">empty</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach that. */}
      {text !== '' && <pre tabIndex={0}>{shown}</pre>}
      {isLong && (
        <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'fold' : `show all (${grouped(lines.length)} lines, ${grouped(text.length)} characters)`}
        </button>
      )}
      {of.chars !== undefined && (
        <p class="none">
          Cut here: {grouped(of.text.length)} of {grouped(of.chars)} characters. The command below shows all.
        </p>
      )}
    </div>
  );
}

/** Copies a text. Where a page may not (opened from a file), it is selected instead, to be copied by hand. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [done, setDone] = useState('');
  const copy = async () => {
    const copied = await copyText(text);
    setDone(copied ? 'copied' : 'not allowed');
    announcement.value = copied ? `${what} copied` : `${what} could not be copied`;
    setTimeout(() => setDone(''), 1_500);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy: ${what}`} onClick={copy}>
      {done || 'copy'}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // In some browsers a page from a file has no clipboard; selecting the text works there.
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  return copied;
}

/** Commands that do, or show, the same in a terminal, each with what it does. */
export function CommandList({ of }: { readonly of: readonly (readonly [command: string, does: string])[] }) {
  return (
    <ul class="commands">
      {of.map(([command, does]) => (
        <li key={command} class="command">
          <code>{command}</code>
          <Copy text={command} what={does} />
          <span class="does">{does}</span>
        </li>
      ))}
    </ul>
  );
}

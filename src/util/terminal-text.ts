/**
 * Characters that act on a terminal: controls except tabs and line ends, and those that change the writing direction.
 */
const ACTING = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const EACH_ACTING = new RegExp(ACTING, 'g');

/** Makes text safe to show: output of programs and models must not move the cursor or change colours. */
export function sanitize(text: string): string {
  if (!ACTING.test(text)) return text;
  return text
    .replaceAll(/(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)/g, '') // titles, links
    .replaceAll(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g, '') // colours, cursor
    .replaceAll(/\x1b[ -/]*[0-~]/g, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(EACH_ACTING, '');
}

/** Shows control characters instead of removing them, for a person who decides about the text. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(EACH_ACTING, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

/** The same on one line. */
export function oneLine(text: string): string {
  const shown = sanitize(text);
  // Most texts are one line already and stay the same string, because a batch has very many labels.
  return (/[^\S ]| {2}/.test(shown) ? shown.replaceAll(/\s+/g, ' ') : shown).trim();
}

const STYLE = /\x1b\[[0-9;]*m/g;

/** The cells that a text takes; our own style sequences take none, East Asian characters and emoji take two. */
export function displayWidth(text: string): number {
  const plain = text.includes('\x1b') ? text.replaceAll(STYLE, '') : text;
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const character of plain) width += characterWidth(character.codePointAt(0)!);
  return width;
}

/** Cuts to at most `width` cells, with `…` where something was cut. Open styles are closed. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 0) return '';
  let used = 0;
  let result = '';
  let styled = false;
  for (const piece of text.split(/(\x1b\[[0-9;]*m)/)) {
    if (piece.startsWith('\x1b[')) {
      result += piece;
      styled = true;
      continue;
    }
    for (const character of piece) {
      const next = characterWidth(character.codePointAt(0)!);
      if (used + next > width - 1) return `${result}…${styled ? '\x1b[0m' : ''}`;
      result += character;
      used += next;
    }
  }
  return result;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Ranges in which terminals use two cells: wide and full-width scripts, and emoji. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];

function characterWidth(code: number): number {
  if (code < 0x300) return 1;
  if ((code >= 0x300 && code <= 0x36f) || code === 0x200b || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) {
    return 0; // Combining marks, joiners and variation selectors.
  }
  return code >= 0x1100 && WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

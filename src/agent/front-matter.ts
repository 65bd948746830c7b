/** A flat value of an agent file's head: a text, or a list of texts. */
export type FrontMatterValue = string | readonly string[];

type FrontMatter =
  | { readonly fields: ReadonlyMap<string, FrontMatterValue>; readonly body: string }
  | { readonly problem: string };

const HEAD = /^---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?^---[ \t]*(?:\r?\n|$)/m;
const FIELD = /^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$/;

/**
 * The head of an agent file: names with a text, a list in brackets, a list of dashes, or an indented text after `|` or
 * `>`. Parsed by hand: every call looks up its agent, and a warm run must not load a YAML parser. Anything else is
 * reported.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const head = text.startsWith('---') ? HEAD.exec(text) : null;
  if (head?.index !== 0) return { fields: new Map(), body: text };
  const fields = new Map<string, FrontMatterValue>();
  const lines = head[1]!.split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const field = FIELD.exec(line);
    if (!field) return { problem: `line ${index + 2} of its head is not understood: ${line.trim().slice(0, 60)}` };
    const block: string[] = [];
    while (index + 1 < lines.length && /^(\s+\S|- |-$|\s*$)/.test(lines[index + 1]!)) block.push(lines[++index]!);
    fields.set(field[1]!, readValue((field[2] ?? '').trim(), block));
  }
  return { fields, body: text.slice(head[0].length) };
}

function readValue(inline: string, block: readonly string[]): FrontMatterValue {
  const written = block.map((line) => line.trim()).filter((line) => line !== '');
  if (/^[|>][+-]?$/.test(inline)) return written.join(inline.startsWith('|') ? '\n' : ' ');
  if (inline === '' && written.every((line) => line.startsWith('-')) && written.length > 0) {
    return written.map((line) => unquote(line.slice(1).trim())).filter((item) => item !== '');
  }
  if (inline.startsWith('[') && inline.endsWith(']')) return splitList(inline.slice(1, -1));
  return unquote([inline, ...written].join(' ').trim());
}

export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => unquote(item.trim()))
    .filter((item) => item !== '');
}

function unquote(text: string): string {
  const quote = text[0];
  if ((quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote)) {
    const inner = text.slice(1, -1);
    return quote === '"' ? inner.replaceAll(/\\(["\\])/g, '$1') : inner.replaceAll("''", "'");
  }
  return text.replace(/\s+#.*$/, '');
}

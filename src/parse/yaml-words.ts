import type { SyntaxProblem } from './tree.js';
import { indentationProblem } from './yaml-indentation.js';

/** An error of the YAML parser. */
interface YamlError {
  readonly message: string;
  readonly pos: readonly [number, number];
}

/** The place of an error, as the rules see it. */
interface Place {
  readonly text: string;
  readonly offset: number;
  /** The line of the place. */
  readonly line: string;
  readonly before: string;
  readonly after: string;
  /** The parser's message. */
  readonly said: string;
}

type Words = Pick<SyntaxProblem, 'message' | 'hint'> & Partial<Pick<SyntaxProblem, 'offset' | 'length'>>;

interface Rule {
  readonly said: RegExp;
  /** Errors after such a mistake are mostly its consequences. */
  readonly misleads?: true;
  readonly say: (place: Place) => Words | undefined;
}

/** The first rule that applies wins. */
const RULES: readonly Rule[] = [
  { said: /^Nested mappings are not allowed in compact/, misleads: true, say: colonInText },
  {
    said: /must start at the same column|without - indicator|compact mappings|block sequence/i,
    misleads: true,
    say: missingSpace,
  },
  {
    said: /same column$|without - indicator|compact mappings|block sequence may not|sufficiently indented$/,
    misleads: true,
    say: ({ text, offset, said }) => indentationProblem(text, offset, said.includes('indicator')),
  },
  { said: /block-seq-ind on same line with key/, misleads: true, say: strayEntry },
  { said: /need to be followed by map values/, misleads: true, say: noColon },
  {
    said: /^Implicit keys need to be on a single line/,
    misleads: true,
    say: () => ({ message: 'a name has to stand on one line' }),
  },
  {
    said: /^Tabs are not allowed/,
    say: () => ({ message: 'this line is indented with a tab', hint: 'indent with spaces' }),
  },
  { said: /at node end$/, say: endsEarly },
  { said: /^Plain value cannot start with/, say: ({ after }) => needsQuotes(after[0]!) },
  { said: /^(Alias|Anchor) (cannot be|ending)/, say: ({ said }) => needsQuotes(said.startsWith('Alias') ? '*' : '&') },
  { said: /^Not a YAML token|^Block scalar header/, say: textAfterBar },
  { said: /end with a [}\]]$/, misleads: true, say: unclosed },
  { said: /^Missing ,/, misleads: true, say: () => ({ message: 'a comma is missing before this' }) },
  { said: /^Unexpected (,|empty item) /, say: () => ({ message: 'this comma separates nothing' }) },
  { said: /^Missing space after :/, say: () => ({ message: 'a space is missing after ":"' }) },
  { said: /^Invalid escape sequence/, say: badEscape },
  { said: /^Comments must be separated/, say: () => ({ message: 'a comment needs a space before "#"' }) },
  {
    said: /^Block collections are not allowed within flow/,
    misleads: true,
    say: () => ({ message: 'between braces and brackets, commas separate the entries, not lines' }),
  },
  { said: /directive/i, misleads: true, say: () => ({ message: 'a line cannot begin with "%" or "..." here' }) },
];

/** The errors of the parser in plain words, each at the place that has to change. */
export function yamlProblems(errors: readonly YamlError[], text: string, most: number): readonly SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  let misled = false;
  // These come with others that say more.
  const telling = errors.filter(({ message }) => !message.startsWith('Implicit keys need to be on a single line'));
  for (const error of telling.length > 0 ? telling : errors) {
    const rules = RULES.filter(({ said }) => said.test(error.message));
    const misleads = rules.some((each) => each.misleads);
    if (misled && misleads) continue;
    if (problems.length === most) break;
    misled ||= misleads;
    problems.push(problemOf(error, rules, text));
  }
  return problems;
}

function problemOf({ message, pos }: YamlError, rules: readonly Rule[], text: string): SyntaxProblem {
  const said = message.split('\n')[0]!.slice(0, 200);
  const offset = Math.min(pos[0], Math.max(0, text.length - 1));
  const place = { offset, length: Math.max(1, Math.min(pos[1] - pos[0], 40)) };
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', start);
  const line = text.slice(start, end === -1 ? text.length : end);
  const at: Place = {
    text,
    offset,
    line,
    // A line may be as long as the file.
    before: text.slice(Math.max(start, offset - 200), offset),
    after: line.slice(offset - start, offset - start + 2000),
    said,
  };
  for (const { say } of rules) {
    const words = say(at);
    if (words) return { ...place, code: 'syntax', ...words };
  }
  return { ...place, code: 'syntax', message: `this is no YAML: ${said}` };
}

/** `task: Review this: be careful`. */
function colonInText({ after, offset, before }: Place): Words | undefined {
  const colon = /:(?=\s|$)/.exec(after);
  if (!colon) return undefined;
  const written = `${/([\w-]+:\s+)$/.exec(before)?.[1] ?? ''}${quoted(after.trimEnd())}`;
  return {
    offset: offset + colon.index,
    length: 1,
    message: '": " inside a text: put the text in quotes',
    hint: `write ${written}`,
  };
}

function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return text.includes('"') ? `'${short.replaceAll("'", "''")}'` : `"${short.replaceAll('\\', '\\\\')}"`;
}

/** `-id: a` and `id:a`. */
function missingSpace({ line, text, offset }: Place): Words | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const dash = /^(\s*)-(?=[\w"'{[])/.exec(line);
  if (dash) return { offset: start + dash[1]!.length, length: 2, message: 'a space is missing after "-"' };
  return noSpaceAfterColon(line, start);
}

function noSpaceAfterColon(line: string, start: number): Words | undefined {
  const colon = /^(\s*(?:- )?)([\w-]+):(?=[^\s/])/.exec(line);
  if (!colon) return undefined;
  const offset = start + colon[1]!.length;
  return { offset, length: colon[2]!.length + 2, message: 'a space is missing after ":"' };
}

function strayEntry({ before }: Place): Words {
  if (before.trim() !== '') return { message: 'the first entry of a list starts on the next line' };
  return {
    message: 'an entry of a list cannot stand here',
    hint: 'look at the lines above: the fields of an entry start below its first name, not below its "-"',
  };
}

function noColon({ line, text, offset, after }: Place): Words {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const spaced = noSpaceAfterColon(line, start);
  if (spaced) return spaced;
  const length = Math.max(1, Math.min(after.trimEnd().length, 40));
  return {
    length,
    message: 'a field is expected here: a name and ":"',
    hint: 'if this goes on with the text above, indent it more than the name of that text',
  };
}

/** `'it's'`, `{steps.x.output} and more`, `"a" b`. */
function endsEarly({ before }: Place): Words {
  const last = before.trimEnd().at(-1) ?? '';
  const message = 'the value has ended before this';
  if (last === "'") return { message, hint: "inside single quotes write '' for a quote, or use double quotes" };
  if (last === '"') return { message, hint: 'put all of it in quotes, and write \\" for a quote inside' };
  const opening = { '}': '{', ']': '[' }[last] ?? '*';
  return { message, hint: `a text that begins with "${opening}" needs quotes around all of it` };
}

function needsQuotes(character: string): Words {
  return { message: `a text that begins with "${character}" needs quotes` };
}

function textAfterBar({ before }: Place): Words | undefined {
  const bar = /[|>][-+\d]*\s*$/.exec(before)?.[0].trim();
  return bar === undefined ? undefined : { message: `after "${bar}" the text starts on the next line` };
}

function unclosed({ said }: Place): Words {
  const closing = said.at(-1)!;
  const opening = closing === '}' ? '{' : '[';
  return {
    message: `a "${closing}" is missing before this`,
    hint: `a text that begins with "${opening}" needs quotes around all of it`,
  };
}

function badEscape({ said }: Place): Words {
  const written = said.slice('Invalid escape sequence '.length);
  const hint = `write \\${written}, or use single quotes`;
  return { message: `${written} means nothing inside double quotes`, hint };
}

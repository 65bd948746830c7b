import { isTextList } from '../../model/json.js';
import { parsedJson } from '../../util/if-there.js';
import { splitWords } from './argv-words.js';

/** What an entry of `cache.fingerprint` asks for. */
export type Fingerprint =
  | { readonly source: 'git-ref'; readonly ref: string }
  | { readonly source: 'git-worktree' }
  | { readonly source: 'glob'; readonly pattern: string; readonly exact: boolean }
  | { readonly source: 'file'; readonly path: string }
  | { readonly source: 'env'; readonly name: string }
  | { readonly source: 'cmd'; readonly argv: readonly string[] };

type ParsedFingerprint = { readonly ok: Fingerprint } | { readonly problem: string; readonly hint: string };

/** In the order in which documentation shows them. */
export const FINGERPRINT_PREFIXES = ['git:', 'glob:', 'glob!:', 'file:', 'env:', 'cmd:'] as const;

const EXAMPLES =
  'git:HEAD, git:worktree, glob:src/**, glob!:src/**, file:package.json, env:NODE_ENV, cmd:node --version';

/** Pure and cheap, for the checker and for the resolver alike. Placeholders may be anywhere after the prefix. */
export function parseFingerprint(entry: string): ParsedFingerprint {
  const prefix = FINGERPRINT_PREFIXES.find((known) => entry.startsWith(known));
  if (prefix === undefined) {
    return { problem: `unknown fingerprint \`${shorten(entry)}\``, hint: `one of these: ${EXAMPLES}` };
  }
  const rest = entry.slice(prefix.length).trim();
  if (rest === '') return { problem: `\`${prefix}\` names nothing`, hint: `write for example ${exampleOf(prefix)}` };
  if (rest.includes('\0')) return { problem: 'a fingerprint cannot hold a NUL character', hint: 'remove it' };
  switch (prefix) {
    case 'git:':
      return parseRef(rest);
    case 'glob:':
    case 'glob!:':
      return (
        outsideProblem(rest) ??
        negationProblem(rest) ?? { ok: { source: 'glob', pattern: rest, exact: prefix === 'glob!:' } }
      );
    case 'file:':
      return outsideProblem(rest) ?? { ok: { source: 'file', path: rest } };
    case 'env:':
      return parseEnv(rest);
    case 'cmd:':
      return parseCommand(rest);
  }
}

/**
 * The entry with its placeholders filled in. A command is split into words before that, so that a value with blanks
 * or quotes stays one argument.
 */
export function renderFingerprint(entry: string, render: (template: string) => string): string {
  if (!entry.startsWith('cmd:')) return render(entry);
  const parsed = parseFingerprint(entry);
  if (!('ok' in parsed) || parsed.ok.source !== 'cmd') return render(entry);
  return `cmd:${JSON.stringify(parsed.ok.argv.map(render))}`;
}

function parseRef(ref: string): ParsedFingerprint {
  if (ref === 'worktree') return { ok: { source: 'git-worktree' } };
  if (ref.startsWith('-') || /[\s\x00-\x1f\x7f]/.test(ref)) {
    return { problem: `\`${shorten(ref)}\` is no git ref`, hint: 'git:HEAD, git:worktree, or a branch or tag' };
  }
  return { ok: { source: 'git-ref', ref } };
}

function parseEnv(name: string): ParsedFingerprint {
  if (/[=\s]/.test(name)) {
    return { problem: `\`${shorten(name)}\` is no name of a variable`, hint: 'one name, for example env:NODE_ENV' };
  }
  return { ok: { source: 'env', name } };
}

function parseCommand(text: string): ParsedFingerprint {
  const argv = text.startsWith('[') ? parseList(text) : splitWords(text);
  if (argv === undefined || argv.length === 0 || argv[0] === '') {
    return { problem: `\`${shorten(text)}\` is no command`, hint: 'close every quote: cmd:node --version' };
  }
  return { ok: { source: 'cmd', argv } };
}

/** Undefined for what is not the list form: a program whose name begins with a bracket must be quoted. */
function parseList(text: string): readonly string[] | undefined {
  const list = parsedJson(text);
  return isTextList(list) ? list : undefined;
}

function outsideProblem(path: string): ParsedFingerprint | undefined {
  if (!/^[/\\~]|^[A-Za-z]:[/\\]|(?:^|\/)\.\.(?:\/|$)/.test(path)) return undefined;
  return { problem: `\`${shorten(path)}\` leaves the project`, hint: 'paths are seen from the project root' };
}

function negationProblem(pattern: string): ParsedFingerprint | undefined {
  if (!pattern.startsWith('!') || pattern.startsWith('!(')) return undefined;
  return { problem: 'a glob says what counts, not what does not', hint: 'name the folders that matter' };
}

export function exampleOf(prefix: string): string {
  return EXAMPLES.split(', ').find((example) => example.startsWith(prefix))!;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

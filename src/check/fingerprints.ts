import { hasWildcards } from '../memo/files/glob-pattern.js';
import { exampleOf, FINGERPRINT_PREFIXES } from '../memo/fingerprint/syntax.js';
import type { Path } from '../parse/locate.js';
import { refuseGenerated } from './bodies.js';
import { leavesProject, literalBase } from './paths.js';
import type { PhaseReader, TextScope } from './phase-reader.js';
import { show } from './structure.js';

/** Refuses an unknown entry, which would never change the key. */
export function checkFingerprint(
  reader: PhaseReader,
  path: Path,
  { entry, scope }: { readonly entry: string; readonly scope: TextScope },
): void {
  const { problems, trust, world } = reader.context;
  reader.template(path, entry, scope);
  const prefix = FINGERPRINT_PREFIXES.find((known) => entry.startsWith(known));
  if (!prefix) {
    const written = entry.includes(':') ? entry.slice(0, entry.indexOf(':') + 1) : entry;
    const meant = likelyEntry(entry);
    problems.error(path, 'unknown-fingerprint', {
      message: `${show(written)} is no kind of fingerprint: use ${FINGERPRINT_PREFIXES.join(', ')}`,
      span: { offset: 0, length: written.length },
      ...(meant === undefined
        ? { suggest: { name: written, known: FINGERPRINT_PREFIXES } }
        : { hint: `did you mean "${meant}"?` }),
    });
    return;
  }
  const value = entry.slice(prefix.length);
  if (value.trim() === '') {
    problems.error(path, 'bad-value', {
      message: `"${prefix}" needs a value`,
      hint: `for example: ${exampleOf(prefix)}`,
    });
    return;
  }
  if (prefix === 'env:' && !value.includes('{') && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(value)) {
    problems.error(path, 'bad-value', {
      message: `${show(value)} is no name of a variable`,
      ...spanAfter(prefix, value),
    });
  }
  if (prefix === 'cmd:' && trust === 'generated') refuseGenerated(reader.problems, path, 'execute commands');
  if (prefix === 'git:' && /^[-]|\s|\.\./.test(value)) {
    problems.error(path, 'bad-value', { message: `${show(value)} is no git reference`, ...spanAfter(prefix, value) });
  }
  if (prefix === 'file:' || prefix === 'glob:' || prefix === 'glob!:') {
    const fixed = prefix === 'file:' ? value : literalBase(value);
    if (leavesProject(value) || (!fixed.includes('{') && world.linksOut(fixed))) {
      problems.error(path, 'outside-project', {
        message: 'this path leads out of the project',
        ...spanAfter(prefix, value),
      });
    } else reader.context.files.add(path, entry, reader.context.outputs);
  }
}

/** Suggests an entry for a path without a prefix, the commonest mistake. */
function likelyEntry(entry: string): string | undefined {
  if (entry.includes(':')) return undefined;
  const prefix = FINGERPRINT_PREFIXES.find((known) => known === `${entry}:`);
  if (prefix) return exampleOf(prefix);
  if (entry === 'HEAD' || entry === 'worktree') return `git:${entry}`;
  if (/^[A-Z][A-Z0-9_]*$/.test(entry)) return `env:${entry}`;
  if (hasWildcards(entry) || entry.endsWith('/')) return `glob:${entry}`;
  return /^[\w.-]+(?:\/[\w.-]+)*$/.test(entry) ? `file:${entry}` : undefined;
}

function spanAfter(prefix: string, value: string): { span: { offset: number; length: number } } {
  return { span: { offset: prefix.length, length: value.length } };
}

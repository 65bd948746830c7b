import { parseTemplate } from '../plan/template.js';

/**
 * Whether a written path can lead out of the project. A placeholder counts as one plain name; its value is checked
 * again when the phase runs.
 */
export function leavesProject(path: string): boolean {
  const literal = withoutPlaceholders(path);
  if (
    literal.startsWith('/') ||
    literal.startsWith('~') ||
    /^[A-Za-z]:[\\/]/.test(literal) ||
    literal.startsWith('\\')
  ) {
    return true;
  }
  if (!literal.includes('..')) return false;
  let depth = 0;
  for (const part of literal.split(/[\\/]/)) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** The text with every placeholder replaced by a name that means nothing to a path or a pattern. */
function withoutPlaceholders(text: string): string {
  if (!text.includes('{')) return text;
  return parseTemplate(text)
    .segments.map((segment) => (segment.type === 'text' ? segment.text : 'x'))
    .join('');
}

/** The folder that holds every match of a pattern, known before the match. */
export function literalBase(pattern: string): string {
  const plain: string[] = [];
  for (const part of pattern.split('/')) {
    if (/[*?[\]{}()!+@]/.test(part)) break;
    plain.push(part);
  }
  return plain.join('/');
}

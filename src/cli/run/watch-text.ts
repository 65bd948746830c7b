import { displayPath } from '../../util/inside.js';
import { oneLine } from '../../util/terminal-text.js';

const names = (root: string, [first = '', ...more]: readonly string[]) =>
  oneLine(displayPath(root, first)) + (more.length > 0 ? ` (and ${more.length} more)` : '');

export function changedLine(root: string, paths: readonly string[], then: 'running again' | 'starting again'): string {
  return `changed: ${names(root, [...paths].sort())}: ${then}`;
}

export function tooOftenLine(root: string, paths: readonly string[]): string {
  return (
    `${names(root, [...paths].sort())} changed in every run: not running again because of that\n` +
    '  if the flow writes it, name it in outputs'
  );
}

export const WAITING_LINE = 'watching for changes (Ctrl-C ends)';

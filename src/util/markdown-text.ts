import { oneLine, sanitize } from './terminal-text.js';

/** Output of programs and models as plain text on one line, with Markdown and HTML escaped. */
export function markdownText(said: string, longest = 300): string {
  const line = oneLine(said);
  const cut = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return cut
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|#~!$>]/g, '\\$&');
}

/** The same with all its lines, in a fence that no line of it can close. */
export function markdownFence(said: string): string[] {
  const text = sanitize(said);
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return [fence, text, fence];
}

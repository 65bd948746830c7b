import { oneLine, sanitize } from './terminal-text.js';

/** What programs and models say, on one line, as text: not Markdown or HTML of ours. */
export function markdownText(said: string, longest = 300): string {
  const line = oneLine(said);
  const cut = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return cut
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|#~!$>]/g, '\\$&');
}

/** The same with its lines, in a fence that nothing in it can close. */
export function markdownFence(said: string): string[] {
  const text = sanitize(said);
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
  return [fence, text, fence];
}

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Every page that a user reads, from the root of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(`${ROOT}docs`)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
];

export function textOf(page: string): string {
  return readFileSync(`${ROOT}${page}`, 'utf8');
}

/**
 * What a page does, in its order. A comment `<!-- test: … -->` holds commands that a reader does not see.
 * `<!-- shown -->` before a block says that it cannot be run here.
 */
export type Step =
  | { readonly type: 'hidden'; readonly line: number; readonly text: string }
  | {
      readonly type: 'block';
      readonly line: number;
      readonly language: string;
      readonly shown: boolean;
      readonly text: string;
    };

const STEP = /^<!-- test:([\s\S]*?)-->|^(<!-- shown -->\n+)?```(\w+)\n([\s\S]*?)^```$/gm;

export function stepsOf(page: string): readonly Step[] {
  const text = textOf(page);
  return [...text.matchAll(STEP)].map((found): Step => {
    const [, hidden, shown, language = '', block = ''] = found;
    const line = text.slice(0, found.index).split('\n').length;
    return hidden === undefined
      ? { type: 'block', line, language, shown: shown !== undefined, text: block }
      : { type: 'hidden', line, text: hidden };
  });
}

/** The lines that a person types, with the status that the page says they end with. */
export function commandsOf(block: string): readonly { readonly command: string; readonly status: number }[] {
  return block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => ({ command: line, status: Number(/\s#.*\bstatus (\d+)/.exec(line)?.[1] ?? 0) }));
}

/** A block that begins with its own path, in a comment, is that file. */
export function fileNameOf(block: string): string | undefined {
  return /^(?:#|\/\/) (\.?[\w][\w./-]*\.\w+)\b/.exec(block)?.[1];
}

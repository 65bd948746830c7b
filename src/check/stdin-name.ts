import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';

const STDIN = /\/dev\/(?:stdin|fd\/0)(?![\w/-]|\.\w)/g;

/**
 * The input of a script comes from a socket, which the system does not open by name: a script that does so works in a
 * terminal and fails here. Its output goes into pipes, which can be opened.
 */
export function warnOfStdinName(problems: Problems, path: Path, text: string): void {
  if (!text.includes('/dev/')) return;
  for (const { 0: name, index } of text.matchAll(STDIN)) {
    problems.warn(path, 'stream-name', {
      message: `${name} cannot be opened: stdin of a phase is not a file`,
      span: { offset: index, length: name.length },
      hint: 'read stdin itself: most programs do so without a file name, or with `-`',
    });
  }
}

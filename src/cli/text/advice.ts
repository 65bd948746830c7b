import { displayWidth, padEnd } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';

/** A command to type next, and what it does. */
export type Advice = readonly [command: string, effect: string];

interface AdviceOptions {
  readonly style: Style;
  /** The width of the terminal; without one, nothing is wrapped. */
  readonly columns?: number;
}

const GAP = 4;
const ARROW = 4;

/** One line each, the effects below each other; on a narrow terminal an effect has a line of its own. */
export function adviceLines(advice: readonly Advice[], { style, columns = Infinity }: AdviceOptions): string[] {
  const width = Math.max(0, ...advice.map(([command]) => displayWidth(command)));
  const widest = Math.max(0, ...advice.map(([, effect]) => displayWidth(effect)));
  const together = ARROW + width + GAP + widest <= columns;
  return advice.flatMap(([command, effect]) => {
    const first = `  ${style.dim('→')} ${together ? padEnd(command, width + GAP) + effect : command}`;
    return together ? [first] : [first, `    ${effect}`];
  });
}

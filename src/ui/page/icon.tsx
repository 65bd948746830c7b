import type { Outcome } from './words.js';

/** Drawn on a grid of 16: each outcome has a shape of its own. */
const SHAPES: Readonly<Record<Outcome, string>> = {
  ran: 'M3 8.5 6.5 12 13 4.5',
  reused: 'M13 6.5A5.3 5.3 0 0 0 3.6 5M3 9.5A5.3 5.3 0 0 0 12.4 11M3.3 2.2V5.2H6.3M12.7 13.8V10.8H9.7',
  failed: 'M4 4 12 12M12 4 4 12',
  blocked: 'M8 2.5A5.5 5.5 0 1 0 8 13.5A5.5 5.5 0 1 0 8 2.5M4.2 4.2 11.8 11.8',
  paused: 'M5.5 3.5V12.5M10.5 3.5V12.5',
  running: 'M5 3.5 12 8 5 12.5Z',
  waiting: 'M8 2.5A5.5 5.5 0 1 0 8 13.5A5.5 5.5 0 1 0 8 2.5M8 5V8.2L10.2 9.8',
  skipped: 'M3.5 8H12.5',
  unfinished: 'M8 3V9M8 12V12.6',
};

export function Icon({ of }: { readonly of: Outcome }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={SHAPES[of]} />
    </svg>
  );
}

/** The same inside of another drawing. */
export function IconShape({ of, x, y }: { readonly of: Outcome; readonly x: number; readonly y: number }) {
  return <path class="mark" d={SHAPES[of]} transform={`translate(${x} ${y})`} />;
}

export function Badge({ of, word }: { readonly of: Outcome; readonly word: string }) {
  return (
    <span class={`badge is-${of}`}>
      <Icon of={of} />
      {word}
    </span>
  );
}

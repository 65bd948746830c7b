import type { Outcome } from '../words.js';

/** One bar of stacked parts, the first at the bottom. */
export interface Bar {
  readonly key: string;
  /** Shown when the pointer rests on it. */
  readonly title: string;
  readonly parts: readonly Part[];
}

export interface Part {
  readonly value: number;
  readonly of: Outcome;
}

interface PlotProps {
  readonly name: string;
  readonly bars: readonly Bar[];
  /** How the highest value is written. */
  readonly top: (value: number) => string;
  /** The highest value, where it is known before. */
  readonly most?: number;
}

const [WIDTH, HEIGHT, MOST_WIDE] = [320, 96, 18];

/** A bar for each run, the oldest first. The table beside it says the same in words. */
export function Plot({ name, bars, top, most }: PlotProps) {
  const heights = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const highest = most ?? Math.max(...heights, 0);
  const step = Math.min(MOST_WIDE, WIDTH / Math.max(1, bars.length));
  const last = heights.at(-1) ?? 0;
  const summary = highest === 0 ? 'nothing yet' : `last ${top(last)}, highest ${top(Math.max(...heights))}`;
  return (
    <figure class="plot">
      <figcaption>
        <span class="label">{name}</span> <span class="note">{summary}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${name}: ${summary}`} preserveAspectRatio="none">
        <Stripes />
        <line class="plot-line" x1="0" y1={HEIGHT - 0.5} x2={WIDTH} y2={HEIGHT - 0.5} />
        {highest > 0 &&
          bars.map((bar, index) => (
            <Column
              key={bar.key}
              bar={bar}
              x={index * step}
              width={Math.max(1, step - 2)}
              scale={(HEIGHT - 2) / highest}
            />
          ))}
      </svg>
    </figure>
  );
}

/** Reused parts are striped, so that they differ in more than colour. */
function Stripes() {
  return (
    <defs>
      <pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="plot-part is-reused" width="6" height="6" />
        <line class="plot-stripe" x1="0" y1="0" x2="0" y2="6" />
      </pattern>
    </defs>
  );
}

interface ColumnProps {
  readonly bar: Bar;
  readonly x: number;
  readonly width: number;
  readonly scale: number;
}

function Column({ bar, x, width, scale }: ColumnProps) {
  let y = HEIGHT - 1;
  return (
    <g>
      <title>{bar.title}</title>
      <rect class="plot-all" x={x} y={0} width={width} height={HEIGHT} />
      {bar.parts.map(({ value, of }) => {
        const height = value === 0 ? 0 : Math.max(1, value * scale);
        y -= height;
        return <rect key={of} class={`plot-part is-${of}`} x={x} y={y} width={width} height={height} />;
      })}
    </g>
  );
}

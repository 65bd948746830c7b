import { useMemo, useRef } from 'preact/hooks';
import { type Box, layoutGraph, type Point } from '../../plan/layout.js';
import { oneLine } from '../../util/terminal-text.js';
import type { PhaseView, RunView } from '../view/types.js';
import { IconShape } from './icon.js';
import { chosenBy, focusDetail, focusPhase } from './keys.js';
import { useWidth } from './measure.js';
import { selection, selectPhase } from './state.js';
import { outcomeOf, outcomeWord, savedWord, spentText, whyText } from './words.js';

const [WIDTH, HEIGHT, GAP] = [196, 58, 52];
const MOST_TEXT = 21;
/** Below this, the text cannot be read: the graph scrolls instead. */
const SMALLEST = 0.75;

interface Drawn {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly edges: readonly { readonly from: string; readonly to: string; readonly path: string }[];
}

/** The flow as it was run: from left to right where there is room for that, else from top to bottom. */
export function Graph({ run }: { readonly run: RunView }) {
  const { phases } = run;
  const around = useRef<HTMLDivElement>(null);
  const room = useWidth(around);
  const shape = phases.map(({ id, needs }) => `${id} ${needs}`).join();
  const drawn = useMemo(() => drawWithin(phases, room), [shape, room]);
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  const { phase: chosen } = selection.value;
  const focusable = chosen !== undefined && byId.has(chosen) ? chosen : phases[0]?.id;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      focusDetail();
      return;
    }
    const next = focusable === undefined ? undefined : neighbour(drawn.boxes, focusable, event.key);
    if (next === undefined) return;
    event.preventDefault();
    selectPhase(next);
    focusPhase(event.currentTarget as Element, next);
  };
  const { width, height } = drawn;
  const scale = Math.min(1, Math.max(SMALLEST, room / width));
  return (
    <>
      <div
        ref={around}
        class="graph"
        role="listbox"
        tabIndex={-1}
        aria-label="Phases as a graph"
        onClick={chosenBy((id) => selectPhase(id))}
        onKeyDown={onKeyDown}
      >
        <svg width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`} role="presentation">
          <defs>
            <Tip id="tip" />
            <Tip id="hot-tip" />
          </defs>
          {drawn.edges.map(({ from, to, path }) => {
            const hot = isHot(byId, from, to);
            const near = chosen === from || chosen === to;
            return (
              <path
                key={`${from} ${to}`}
                class={`edge${hot ? ' is-hot' : ''}${near ? ' is-near' : ''}`}
                d={path}
                marker-end={hot ? 'url(#hot-tip)' : 'url(#tip)'}
              />
            );
          })}
          {phases.map((phase) => (
            <Node key={phase.id} phase={phase} box={drawn.boxes.get(phase.id)!} focusable={phase.id === focusable} />
          ))}
        </svg>
      </div>
      <p class="legend" aria-hidden="true">
        <span class="key is-path" /> new work led to new work <span class="key is-dashed" /> reused, or not run
      </p>
    </>
  );
}

function Tip({ id }: { readonly id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerUnits="userSpaceOnUse"
      markerWidth="9"
      markerHeight="9"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8z" />
    </marker>
  );
}

interface NodeProps {
  readonly phase: PhaseView;
  readonly box: Box;
  readonly focusable: boolean;
}

function Node({ phase, box, focusable }: NodeProps) {
  const outcome = outcomeOf(phase);
  const money = phase.hit === undefined ? spentText(phase.spent) : firstOf(savedWord(phase.saved));
  const paid = phase.hit === undefined ? money : `saved ${money}`;
  const words = money === '' ? outcomeWord(phase) : `${outcomeWord(phase)} · ${paid}`;
  const isChosen = selection.value.phase === phase.id;
  const { x, y } = box;
  return (
    <g
      class={`node is-${outcome}`}
      role="option"
      aria-selected={isChosen}
      aria-label={`${oneLine(phase.id)} ${words}, ${phase.kind}: ${whyText(phase)}`}
      // Attributes of SVG are read as they are written.
      tabindex={focusable ? 0 : -1}
      data-phase={phase.id}
    >
      <rect class="box" x={x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
      <rect class="side" x={x} y={y} width="4" height={HEIGHT} rx="2" />
      <IconShape of={outcome} x={x + 14} y={y + 10} />
      <text class="node-id" x={x + 38} y={y + 23}>
        {cut(oneLine(phase.id), MOST_TEXT - 1)}
      </text>{' '}
      <text class="node-words" x={x + 14} y={y + 45}>
        {cut(words, MOST_TEXT + 6)}
      </text>
    </g>
  );
}

/** `$0.04` of `$0.04, 12s`. */
function firstOf(amounts: string): string {
  return amounts.split(', ')[0]!;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Both phases executed: the edge shows how an edit went through the flow. */
function isHot(byId: ReadonlyMap<string, PhaseView>, from: string, to: string): boolean {
  const [a, b] = [byId.get(from), byId.get(to)];
  return a !== undefined && b !== undefined && outcomeOf(a) === 'ran' && outcomeOf(b) === 'ran';
}

/** From left to right unless only the other way fits. */
function drawWithin(phases: readonly PhaseView[], room: number): Drawn {
  const across = draw(phases, true);
  if (across.width <= room) return across;
  const down = draw(phases, false);
  return down.width < across.width ? down : across;
}

/** The layout goes from top to bottom; from left to right it is turned. */
function draw(phases: readonly PhaseView[], turned: boolean): Drawn {
  const known = new Set(phases.map(({ id }) => id));
  const nodes = phases.map(({ id, needs }) => ({ id, needs: needs.filter((need) => known.has(need)) }));
  const [across, along] = turned ? [HEIGHT, WIDTH] : [WIDTH, HEIGHT];
  const layout = layoutGraph(nodes, { boxWidth: () => across, boxHeight: along, layerGap: turned ? GAP : 36 });
  const place = ({ x, y }: Point) => (turned ? { x: y, y: x } : { x, y });
  const boxes = [...layout.boxes].map(([id, box]) => [id, { ...place(box), width: WIDTH, height: HEIGHT }] as const);
  const edges = layout.edges.map(({ from, to, route }) => ({ from, to, path: curve(route.map(place), turned) }));
  const [width, height] = turned ? [layout.height, layout.width] : [layout.width, layout.height];
  return { width, height, boxes: new Map(boxes), edges };
}

function curve(points: readonly Point[], turned: boolean): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let [path, last] = [`M${round(first.x)} ${round(first.y)}`, first];
  for (const point of rest) {
    const middle = turned ? round((last.x + point.x) / 2) : round((last.y + point.y) / 2);
    path += turned
      ? `C${middle} ${round(last.y)} ${middle} ${round(point.y)} ${round(point.x)} ${round(point.y)}`
      : `C${round(last.x)} ${middle} ${round(point.x)} ${middle} ${round(point.x)} ${round(point.y)}`;
    last = point;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ...{ ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] },
};

/** The nearest box in a direction; distance to the side counts double. */
function neighbour(boxes: ReadonlyMap<string, Box>, from: string, key: string): string | undefined {
  if (key === 'Home' || key === 'End') return key === 'Home' ? [...boxes.keys()][0] : [...boxes.keys()].at(-1);
  const [direction, here] = [DIRECTIONS[key], boxes.get(from)];
  if (!direction || !here) return undefined;
  const [dx, dy] = direction;
  let best: { readonly id: string; readonly far: number } | undefined;
  for (const [id, { x, y }] of boxes) {
    const along = (x - here.x) * dx + (y - here.y) * dy;
    const across = Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx);
    if (along > 1 && (!best || along + 2 * across < best.far)) best = { id, far: along + 2 * across };
  }
  return best?.id;
}

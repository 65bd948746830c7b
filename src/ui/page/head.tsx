import { formatDuration } from '../../util/duration.js';
import { formatCount, formatMoney, formatSpent, grouped, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { RunView } from '../view/types.js';
import { Badge } from './icon.js';
import { Copy } from './texts.js';
import { runOutcome, runWord, timeText } from './words.js';

/** Which run this is, and how it ended. */
export function RunHead({ run }: { readonly run: RunView }) {
  return (
    <header class="run-head">
      <div class="title">
        <h1>{oneLine(run.flow)}</h1>
        <Badge of={runOutcome(run.state)} word={runWord(run.state)} />
      </div>
      <p class="meta">
        <span>
          run <code>{run.runId}</code> <Copy text={run.runId} what="run id" />
        </span>
        <span>
          started <time dateTime={new Date(run.startedAt).toISOString()}>{timeText(run.startedAt)}</time>
        </span>
        <span>took {formatDuration(run.durationMs)}</span>
        {run.file !== undefined && (
          <span>
            flow <code>{oneLine(run.file)}</code>
          </span>
        )}
        {run.over !== undefined && (
          <span>
            {plural(run.rowsTotal ?? run.rows.length, 'row')} of <code>{oneLine(run.over)}</code>
          </span>
        )}
        {run.continues !== undefined && (
          <span>
            continues <code>{run.continues}</code> with {plural(run.carried, 'result')} of it
          </span>
        )}
      </p>
    </header>
  );
}

/** What it cost and what reuse saved: the two figures that the rest of the page explains. */
export function Bill({ run }: { readonly run: RunView }) {
  const { spent, saved, executed, reused } = run;
  const all = (spent.usd ?? 0) + (saved.usd ?? 0);
  const part = all > 0 ? Math.round(((saved.usd ?? 0) / all) * 100) : share(reused, executed + reused);
  const savedMoney = saved.usd === null ? 'unknown' : formatMoney(saved.usd);
  return (
    <section class="bill" aria-label="What it cost">
      <Figure name="Spent" value={formatSpent(spent)} note={tokens(spent.tokens)} />
      <Figure name="Saved by reuse" value={savedMoney} note={savedNote(saved)} good />
      <Figure name="Ran" value={grouped(executed)} note={executed === 1 ? 'phase' : 'phases'} />
      <Figure name="Reused" value={grouped(reused)} note={reused === 1 ? 'phase' : 'phases'} good />
      <div class="share" role="img" aria-label={`${part}% ${all > 0 ? 'of the price' : 'of the phases'} was reused`}>
        <div class="share-bar">
          <div class="share-part" style={{ width: `${part}%` }} />
        </div>
        <span class="share-text">
          {part}% {all > 0 ? 'of the price' : 'of the phases'} was reused
        </span>
      </div>
    </section>
  );
}

function share(part: number, all: number): number {
  return all === 0 ? 0 : Math.round((part / all) * 100);
}

function tokens(count: number): string {
  return count === 0 ? 'no tokens' : `${formatCount(count)} tokens`;
}

function savedNote({ tokens: count, ms }: RunView['saved']): string {
  const parts = [...(count > 0 ? [`${formatCount(count)} tokens`] : []), ...(ms >= 1 ? [formatDuration(ms)] : [])];
  return parts.length === 0 ? 'nothing was reused' : parts.join(', ');
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly good?: boolean;
}

export function Figure({ name, value, note, good }: FigureProps) {
  return (
    <div class={good ? 'figure is-good' : 'figure'}>
      <span class="label">{name}</span>
      <strong>{value}</strong>
      <span class="note">{note}</span>
    </div>
  );
}

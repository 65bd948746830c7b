import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ListedEntry } from '../../../store/list-entries.js';
import { formatAgo, formatDuration } from '../../../util/duration.js';
import { formatBytes, formatMoney, formatSaved, grouped, plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { CacheView } from '../../server/cache-view.js';
import type { ListedRun } from '../../server/run-list.js';
import { Figure } from '../head.js';
import { Columns, NumberCell } from '../table-parts.js';
import { CommandList } from '../texts.js';
import { ClearCache } from './clear-cache.js';
import type { LiveSource } from './live-source.js';
import { Plot } from './plot.js';
import { useRuns } from './runs-page.js';

/** What is kept for reuse, what it has saved, and what the next collection would remove. */
export function CachePage({ source }: { readonly source: LiveSource }) {
  const cache = useSignal<CacheView | undefined | 'failed'>(undefined);
  const runs = useRuns(source)?.runs ?? [];
  const load = async () => {
    cache.value = (await source.cache()) ?? 'failed';
  };
  useEffect(() => void load(), [source, runs.length]);
  if (cache.value === undefined) return <p class="none">loading…</p>;
  if (cache.value === 'failed') return <Broken />;
  const view = cache.value;
  if (view.entries === 0) return <Nothing view={view} />;
  return (
    <>
      <div class="title">
        <h1>Cache</h1>
        <ClearCache source={source} flows={view.flows.map(({ flow }) => flow)} onCleared={() => void load()} />
      </div>
      <p class="meta">
        <code>{view.dir}</code>
      </p>
      <Figures view={view} runs={runs} />
      <Savings runs={runs} />
      <Flows view={view} />
      <div class="side-by-side">
        <Entries title="Largest" entries={view.largest} />
        <Entries title="Oldest" entries={view.oldest} />
      </div>
      <Evicted view={view} />
    </>
  );
}

function Broken() {
  return (
    <section class="empty">
      <h1>The cache cannot be read</h1>
      <CommandList of={[['taskflow doctor', 'says what is wrong']]} />
    </section>
  );
}

function Nothing({ view }: { readonly view: CacheView }) {
  return (
    <section class="empty">
      <h1>Nothing is kept yet</h1>
      <p>
        Results of phases with <code>cache: cross-run</code> are kept in <code>{view.dir}</code>.
      </p>
      <CommandList of={[['taskflow cache status FLOW', 'what of a flow is kept, and why not']]} />
    </section>
  );
}

function Figures({ view, runs }: { readonly view: CacheView; readonly runs: readonly ListedRun[] }) {
  const { entries, bytes, files, limits, evicted } = view;
  const usd = runs.reduce((sum, { saved }) => sum + (saved?.usd ?? 0), 0);
  const ms = runs.reduce((sum, { saved }) => sum + (saved?.ms ?? 0), 0);
  const hits = runs.reduce((sum, { reused }) => sum + (reused ?? 0), 0);
  const isWithin = evicted.entries === 0;
  return (
    <section class="bill" aria-label="How much is kept">
      <Figure
        name="Entries"
        value={grouped(entries)}
        note={`of ${grouped(limits.maxEntries)}, ${plural(files, 'file')}`}
      />
      <Figure name="Size" value={formatBytes(bytes)} note={`of ${formatBytes(limits.maxBytes)}`} />
      <Figure
        name="Saved"
        value={formatMoney(usd)}
        note={`${formatDuration(ms)} in ${plural(runs.length, 'kept run')}`}
        good
      />
      <Figure name="Reused" value={grouped(hits)} note="phases in these runs" good />
      <Figure
        name="Would go now"
        value={grouped(evicted.entries)}
        note={isWithin ? 'all is within bounds' : formatBytes(evicted.bytes)}
      />
    </section>
  );
}

function Savings({ runs }: { readonly runs: readonly ListedRun[] }) {
  const ended = runs
    .filter(({ saved }) => saved !== null)
    .slice(0, 60)
    .reverse();
  if (ended.length < 2) return null;
  const bar = (run: ListedRun, value: number, text: string) => ({
    key: run.runId,
    title: `${run.runId}: ${text}`,
    parts: [{ value, of: 'reused' as const }],
  });
  return (
    <section class="history" aria-label={`Savings of the last ${ended.length} runs`}>
      <Plot
        name="Money saved"
        top={formatMoney}
        bars={ended.map((run) => bar(run, run.saved?.usd ?? 0, formatSaved(run.saved!)))}
      />
      <Plot
        name="Time saved"
        top={formatDuration}
        bars={ended.map((run) => bar(run, run.saved?.ms ?? 0, formatSaved(run.saved!)))}
      />
      <Plot
        name="Phases reused"
        top={String}
        bars={ended.map((run) => bar(run, run.reused ?? 0, `${run.reused ?? '?'} reused`))}
      />
    </section>
  );
}

function Flows({ view }: { readonly view: CacheView }) {
  return (
    <section class="compare" aria-labelledby="flows-title">
      <h2 id="flows-title">By flow</h2>
      <table class="listed">
        <Columns names={['Flow']} numbers={['Entries', 'Size']} />
        <tbody>
          {view.flows.slice(0, 100).map(({ flow, entries, bytes }) => (
            <tr key={flow}>
              <th scope="row">{oneLine(flow)}</th>
              <NumberCell name="entries">{grouped(entries)}</NumberCell>
              <NumberCell name="size">{formatBytes(bytes)}</NumberCell>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Entries({ title, entries }: { readonly title: string; readonly entries: readonly ListedEntry[] }) {
  const id = `entries-${title.toLowerCase()}`;
  const now = Date.now();
  return (
    <section class="compare" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <table class="listed">
        <Columns names={['Phase', 'Made', 'Used']} numbers={['Size']} />
        <tbody>
          {entries.slice(0, 10).map(({ key, flow, phaseId, createdAt, usedAt, bytes }) => (
            <tr key={key}>
              <th scope="row">
                {oneLine(`${flow}/${phaseId}`)}
                <span class="kind">
                  <code>{key.slice(0, 12)}</code>
                </span>
              </th>
              <td data-name="made">{formatAgo(now - createdAt)}</td>
              <td data-name="used">{formatAgo(now - usedAt)}</td>
              <NumberCell name="size">{formatBytes(bytes)}</NumberCell>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Evicted({ view }: { readonly view: CacheView }) {
  const { evicted, limits } = view;
  if (evicted.entries === 0) return null;
  return (
    <>
      <Entries title="Would go with the next collection" entries={evicted.first} />
      <p class="none">
        {plural(evicted.entries, 'entry', 'entries')}, {formatBytes(evicted.bytes)}: beyond{' '}
        {formatBytes(limits.maxBytes)}, {plural(limits.maxEntries, 'entry', 'entries')}, or not used for{' '}
        {formatDuration(limits.maxAgeMs)}.
      </p>
      <CommandList of={[['taskflow cache gc', 'does it now']]} />
    </>
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { oneLine } from '../../util/terminal-text.js';
import type { RunComparison, RunView } from '../view/types.js';
import { Causes } from './causes.js';
import { Compare } from './compare.js';
import { DetailPane } from './detail.js';
import { Graph } from './graph.js';
import { Bill, RunHead } from './head.js';
import { PhaseList, RowList } from './lists.js';
import type { PageSource } from './source.js';
import { announcement, firstSelection, selection, type ViewName, view } from './state.js';
import { Table } from './table.js';
import { Facts } from './table-parts.js';
import { Tabs } from './tabs.js';
import { Timeline } from './timeline.js';
import { outcomeWord, whyText } from './words.js';

interface RunPageProps {
  readonly source: PageSource;
  readonly runId: string;
  /** Buttons to act on the run, where that is possible. */
  readonly actions?: ComponentChildren;
}

/** One run: what it cost, why, and everything in it. */
export function RunPage({ source, runId, actions }: RunPageProps) {
  const [run, setRun] = useState<RunView | undefined | 'gone'>(undefined);
  const [comparison, setComparison] = useState<RunComparison | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    const load = async (isFirst: boolean) => {
      const found = await source.run(runId);
      if (!isCurrent) return;
      if (found && isFirst) start(found);
      setRun(found ?? 'gone');
      const compared = found && (await source.compare(runId));
      if (isCurrent) setComparison(compared);
    };
    setRun(undefined);
    void load(true);
    const stop = source.watch?.(runId, () => void load(false));
    return () => {
      isCurrent = false;
      stop?.();
    };
  }, [source, runId]);
  if (run === undefined) return <p class="none">loading…</p>;
  if (run === 'gone') return <p class="empty">There is no run {oneLine(runId)} any more: it was removed.</p>;
  return (
    <>
      <RunHead run={run} />
      <Notes run={run} />
      {actions}
      <Bill run={run} />
      <Causes run={run} />
      <div class="split">
        <Views run={run} />
        <DetailPane run={run} source={source} beside={comparison?.before.runId} />
      </div>
      {comparison && <Compare run={run} comparison={comparison} />}
      <Given run={run} />
      <Announcer run={run} />
    </>
  );
}

function start(run: RunView): void {
  const isBatch = run.rows.length > 0;
  selection.value = isBatch ? {} : firstSelection(run);
  view.value = isBatch ? 'rows' : 'graph';
}

function Notes({ run }: { readonly run: RunView }) {
  const { notes, warnings } = run;
  // A run that waits for a person has not failed.
  const failure = run.state === 'paused' ? undefined : run.failure;
  if (notes.length === 0 && !failure && warnings.length === 0) return null;
  return (
    <section class="notes" aria-label="Notes">
      {failure && (
        <p class="is-failed">
          <strong>{failure.phase === undefined ? 'The run' : oneLine(failure.phase)} failed:</strong>{' '}
          {oneLine(failure.message)}
          {failure.hint !== undefined && <span class="note"> {oneLine(failure.hint)}</span>}
        </p>
      )}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {warnings.slice(0, 5).map(({ message, phase }, index) => (
        <p key={index}>
          <strong>warning{phase === undefined ? '' : ` of ${oneLine(phase)}`}:</strong> {oneLine(message)}
        </p>
      ))}
      {warnings.length > 5 && <p class="none">and {warnings.length - 5} more warnings</p>}
    </section>
  );
}

const NAMES: Readonly<Record<ViewName, string>> = {
  ...{ graph: 'Graph', timeline: 'Timeline', table: 'Table', rows: 'Rows' },
};

/** More phases than this are shown as a list. */
const MOST_DRAWN = 500;

function isLarge({ phases }: RunView): boolean {
  return phases.length > MOST_DRAWN;
}

function viewsOf(run: RunView): readonly ViewName[] {
  const pictures: readonly ViewName[] = isLarge(run) ? [] : ['graph', 'timeline'];
  return [...(run.rows.length > 0 ? ['rows' as const] : []), ...pictures, 'table'];
}

/** Views of the same selection. The table is always there, since that is what is printed. */
function Views({ run }: { readonly run: RunView }) {
  if (run.phases.length === 0) return <p class="empty">The journal of this run names no phases.</p>;
  const names = viewsOf(run);
  const shown = names.includes(view.value) ? view.value : names[0]!;
  const hidden = (name: ViewName) => (shown === name ? '' : ' is-hidden');
  return (
    <div class="views">
      <Tabs names={names} titles={NAMES} shown={shown} />
      {names.map((name) => (
        <div
          key={name}
          id={`view-${name}`}
          class={`view view-${name}${hidden(name)}`}
          role="tabpanel"
          aria-labelledby={`tab-${name}`}
        >
          {name === 'graph' && shown === name && <Graph run={run} />}
          {name === 'timeline' && shown === name && <Timeline run={run} />}
          {name === 'table' && (isLarge(run) ? <PhaseList run={run} /> : <Table run={run} />)}
          {name === 'rows' && shown === name && <RowList run={run} />}
        </div>
      ))}
    </div>
  );
}

function Given({ run }: { readonly run: RunView }) {
  if (run.args.length === 0) return null;
  return (
    <section class="given" aria-labelledby="given-title">
      <h2 id="given-title">Arguments</h2>
      <Facts of={run.args.map(({ name, value }) => [oneLine(name), oneLine(value.text.slice(0, 300))])} />
    </section>
  );
}

/** Tells a screen reader what was selected. */
function Announcer({ run }: { readonly run: RunView }) {
  const { phase: id, unit: name } = selection.value;
  useEffect(() => {
    const phase = run.phases.find((each) => each.id === id);
    const went = phase?.units.find((each) => each.name === name) ?? phase;
    if (phase && went) announcement.value = `${oneLine(phase.id)}: ${outcomeWord(went)}, ${whyText(went)}`;
  }, [id, name]);
  return (
    <div role="status" class="sr">
      {announcement.value}
    </div>
  );
}

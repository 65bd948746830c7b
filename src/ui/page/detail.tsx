import { useEffect, useState } from 'preact/hooks';
import { formatDuration } from '../../util/duration.js';
import { formatMoney, formatSpent } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Detail, PhaseView, RunView, UnitView } from '../view/types.js';
import { Commands } from './commands.js';
import { DetailTexts } from './detail-texts.js';
import { Badge } from './icon.js';
import { leaveDetail } from './keys.js';
import { UnitList } from './lists.js';
import { RowDetail } from './row-detail.js';
import type { PageSource } from './source.js';
import { selection, selectPhase } from './state.js';
import { Facts } from './table-parts.js';
import { outcomeOf, outcomeWord, savedWord, whyText } from './words.js';

interface PaneProps {
  readonly run: RunView;
  readonly source: PageSource;
  /** The run that this one is compared with. */
  readonly beside: string | undefined;
}

/** All that is known of what is selected. */
export function DetailPane({ run, source, beside }: PaneProps) {
  const { phase: id, unit: name, row } = selection.value;
  const phase = run.phases.find((each) => each.id === id);
  const unit = name === undefined ? undefined : phase?.units.find((each) => each.name === name);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    if (unit && phase) selectPhase(phase.id);
    else leaveDetail();
  };
  return (
    <aside id="detail" class="detail" tabIndex={-1} aria-labelledby="detail-title" onKeyDown={onKeyDown}>
      {row !== undefined && <RowDetail run={run} path={row} />}
      {row === undefined && !phase && (
        <>
          <h2 id="detail-title">Nothing is selected</h2>
          <p class="none">Choose a phase to see why it ran or was reused.</p>
        </>
      )}
      {phase && (
        <>
          <Head went={unit ?? phase} phase={phase} unit={unit} causes={run.causes} />
          <Figures went={unit ?? phase} phase={phase} isUnit={unit !== undefined} />
          {phase.units.length > 0 && (
            <section class="units" aria-label={run.mode === 'batch' ? 'Rows of this phase' : 'Items of this phase'}>
              <h3>{run.mode === 'batch' ? 'In each row' : 'Items'}</h3>
              <UnitList phase={phase} />
            </section>
          )}
          <Texts run={run} source={source} beside={beside} phase={phase} unit={unit} />
          <Commands run={run} phase={phase} unit={unit} />
        </>
      )}
    </aside>
  );
}

interface HeadProps {
  readonly went: PhaseView | UnitView;
  readonly phase: PhaseView;
  readonly unit: UnitView | undefined;
  readonly causes: RunView['causes'];
}

function Head({ went, phase, unit, causes }: HeadProps) {
  const roots =
    went.hit !== undefined ? [] : causes.filter(({ phases }) => phases.includes(phase.id)).map(({ what }) => what);
  const further = unit ? [] : roots.filter((what) => !went.reason.includes(what)).slice(0, MOST_ROOTS);
  return (
    <>
      <div class="title">
        <h2 id="detail-title">
          {oneLine(phase.id)}
          {unit && <span class="inside"> / {oneLine(unit.label)}</span>}
        </h2>
        <Badge of={outcomeOf(went)} word={outcomeWord(went)} />
        {unit && (
          <button type="button" class="link" onClick={() => selectPhase(phase.id)}>
            back to {oneLine(phase.id)}
          </button>
        )}
      </div>
      <p class={`because is-${outcomeOf(went)}`}>
        <span class="label">Why</span> {whyText(went) || 'no reason was recorded'}
        {further.length > 0 && <span class="roots">goes back to {further.map(oneLine).join(', ')}</span>}
      </p>
      {!unit && phase.remark !== undefined && <p class="none">{oneLine(phase.remark)}</p>}
    </>
  );
}

const MOST_ROOTS = 3;
const WORTH_SAYING = 100;

interface FiguresProps {
  readonly went: PhaseView | UnitView;
  readonly phase: PhaseView;
  readonly isUnit: boolean;
}

function Figures({ went, phase, isUnit }: FiguresProps) {
  const facts: [string, string][] = [];
  const { spent, saved, hit, durationMs, startedAt } = went;
  if (spent) facts.push(['Spent', formatSpent(spent)]);
  if (saved) facts.push(['Saved', savedWord(saved) || (saved.usd === null ? 'unknown' : formatMoney(0))]);
  if (hit === undefined && startedAt !== undefined && went.endedAt !== undefined)
    facts.push(['Took', formatDuration(durationMs)]);
  const { readyAt, attempts, rounds, items, model, kind } = phase;
  if (!isUnit && readyAt !== undefined && startedAt !== undefined && startedAt - readyAt >= WORTH_SAYING) {
    facts.push(['Waited', formatDuration(startedAt - readyAt)]);
  }
  facts.push(['Kind', kind]);
  if (model !== undefined) facts.push(['Model', oneLine(model)]);
  if (!isUnit && attempts > 1) facts.push(['Attempts', String(attempts)]);
  if (!isUnit && rounds > 1) facts.push(['Rounds', String(rounds)]);
  if (!isUnit && items) {
    const failed = items.failed > 0 ? `, ${items.failed} failed` : '';
    const shared = phase.units.filter((unit) => unit.shared).length;
    const from = shared > 0 ? ` (${shared} from the shared cache)` : '';
    facts.push(['Items', `${items.executed} ran, ${items.reused} reused${from}${failed}`]);
  }
  if (!isUnit && phase.needs.length > 0) facts.push(['Needs', phase.needs.map(oneLine).join(', ')]);
  return <Facts of={facts} />;
}

interface TextsProps extends PaneProps {
  readonly phase: PhaseView;
  readonly unit: UnitView | undefined;
}

/** Loads the long texts. Never shows the texts of an earlier selection. */
function Texts({ run, source, beside, phase, unit }: TextsProps) {
  const name = unit?.name ?? phase.id;
  const [loaded, setLoaded] = useState<{ readonly of: string; readonly detail?: Detail } | undefined>(undefined);
  const version = (unit ?? phase).endedAt;
  useEffect(() => {
    let isCurrent = true;
    source.detail(run.runId, name).then((detail) => {
      if (isCurrent) setLoaded({ of: name, detail });
    });
    return () => {
      isCurrent = false;
    };
  }, [run.runId, name, version, beside]);
  if (loaded?.of !== name) return <p class="none">loading…</p>;
  const { detail } = loaded;
  if (!detail) return run.mode === 'batch' && !unit ? null : <p class="none">Nothing more was recorded of it.</p>;
  return <DetailTexts detail={detail} went={unit ?? phase} report={source.report} />;
}

import { useMemo } from 'preact/hooks';
import { formatDuration } from '../../util/duration.js';
import { plural } from '../../util/format.js';
import type { PhaseView, RowView, RunView, UnitView } from '../view/types.js';
import { focusDetail } from './keys.js';
import { selection, selectPhase } from './state.js';
import { type ListItem, VirtualList } from './virtual-list.js';
import { outcomeOf, outcomeWord, runOutcome, savedWord, spentText, whyText } from './words.js';

/** The items, branches or rows of a phase. */
export function UnitList({ phase }: { readonly phase: PhaseView }) {
  const items = useMemo(() => phase.units.map(unitItem), [phase.units]);
  const { unit } = selection.value;
  return (
    <VirtualList
      name="items"
      items={items}
      chosen={unit}
      onChoose={(name) => selectPhase(phase.id, name)}
      onOpen={focusDetail}
      // Short enough to show that more follows in the pane.
      tall={8}
    />
  );
}

function unitItem(unit: UnitView): ListItem {
  const why = whyText(unit);
  return {
    key: unit.name,
    label: unit.label,
    // For a reused item its output tells more than its age.
    hint:
      unit.hint === undefined || unit.failure !== undefined
        ? why
        : unit.hit === undefined
          ? `${why} · ${unit.hint}`
          : unit.hint,
    ...outcomeWords(unit),
    amount: amountOf(unit),
  };
}

function amountOf({ hit, spent, saved, durationMs }: Pick<UnitView, 'hit' | 'spent' | 'saved' | 'durationMs'>): string {
  if (hit !== undefined) return saved ? `saved ${savedWord(saved)}` : '';
  return [spentText(spent), formatDuration(durationMs)].filter(Boolean).join(', ');
}

/** The phases of a flow that has too many for a table. */
export function PhaseList({ run }: { readonly run: RunView }) {
  const items = useMemo(() => run.phases.map(phaseItem), [run.phases]);
  const choose = (id: string) => selectPhase(id);
  return (
    <VirtualList name="phases" items={items} chosen={selection.value.phase} onChoose={choose} onOpen={focusDetail} />
  );
}

function phaseItem(phase: PhaseView): ListItem {
  const { id } = phase;
  return { key: id, label: id, hint: whyText(phase), ...outcomeWords(phase), amount: amountOf(phase) };
}

function outcomeWords(went: PhaseView | UnitView): Pick<ListItem, 'outcome' | 'word' | 'shared'> {
  return { outcome: outcomeOf(went), word: outcomeWord(went), ...(went.shared && { shared: true }) };
}

/** All rows of a batch. */
export function RowList({ run }: { readonly run: RunView }) {
  const items = useMemo(() => run.rows.map(rowItem), [run.rows]);
  if (items.length === 0) return <p class="none">No row has ended yet.</p>;
  const choose = (path: string) => {
    selection.value = { row: path };
  };
  return <VirtualList name="rows" items={items} chosen={selection.value.row} onChoose={choose} onOpen={focusDetail} />;
}

export function rowOutcome({ state, executed }: RowView) {
  return state === 'success' && executed === 0 ? ('reused' as const) : runOutcome(state);
}

function rowItem(row: RowView): ListItem {
  const { path, label, executed, reused, spent, saved, durationMs } = row;
  const outcome = rowOutcome(row);
  const did = [
    ...(executed > 0 ? [`${executed} ran`] : []),
    ...(reused > 0 ? [`${plural(reused, 'phase')} reused`] : []),
  ];
  const hit = outcome === 'reused' ? ('cross-run' as const) : undefined;
  return {
    key: path,
    label: `${row.row} · ${label}`,
    hint: row.failure === undefined ? did.join(', ') : row.reason,
    outcome,
    word: outcome,
    amount: amountOf({ hit, spent, saved, durationMs }),
  };
}

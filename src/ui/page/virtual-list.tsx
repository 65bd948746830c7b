import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { grouped, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import { Icon } from './icon.js';
import { walk } from './keys.js';
import { useHeight } from './measure.js';
import { announcement } from './state.js';
import { OUTCOMES, type Outcome } from './words.js';

/** One line of a long list. */
export interface ListItem {
  readonly key: string;
  readonly label: string;
  /** The rest of the line; searched like the label. */
  readonly hint: string;
  readonly outcome: Outcome;
  readonly word: string;
  /** Reused from the shared cache. */
  readonly shared?: true;
  /** At the end of the line: what it cost, saved or took. */
  readonly amount: string;
}

interface ListProps {
  readonly name: string;
  readonly items: readonly ListItem[];
  readonly chosen?: string;
  readonly onChoose: (key: string) => void;
  readonly onOpen?: () => void;
  /** Lines that are visible at once. */
  readonly tall?: number;
}

const LINE = 36;
/** Lines drawn above and below the visible ones, so that a quick scroll shows no gap. */
const SPARE = 8;

/** A list of any length, with search and a filter by outcome: only the visible lines are drawn. */
export function VirtualList({ name, items, chosen, onChoose, onOpen, tall }: ListProps) {
  const [query, setQuery] = useState('');
  const [only, setOnly] = useState<Chosen | undefined>(undefined);
  const texts = useMemo(() => items.map(({ label, hint }) => `${label} ${hint}`.toLowerCase()), [items]);
  const shown = useMemo(() => {
    const wanted = query.trim().toLowerCase();
    return items.filter(
      (item, index) =>
        (only === undefined || groupsOf(item).includes(only)) && (wanted === '' || texts[index]!.includes(wanted)),
    );
  }, [items, texts, query, only]);
  const counts = useMemo(() => count(items), [items]);
  const say = (next: number) => {
    announcement.value = `${plural(next, 'line')} shown`;
  };
  useEffect(() => say(shown.length), [query, only]);
  return (
    <div class="list">
      <div class="list-tools">
        <input
          type="search"
          class="search"
          placeholder={`Search ${grouped(items.length)} ${name}`}
          aria-label={`Search ${name}`}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || query === '') return;
            event.stopPropagation();
            setQuery('');
          }}
        />
        <Filters counts={counts} all={items.length} only={only} onChange={setOnly} />
      </div>
      {shown.length === 0 ? (
        <p class="none">
          Nothing matches.{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              setQuery('');
              setOnly(undefined);
            }}
          >
            Show all {grouped(items.length)}
          </button>
        </p>
      ) : (
        <Lines name={name} items={shown} chosen={chosen} onChoose={onChoose} onOpen={onOpen} tall={tall} />
      )}
    </div>
  );
}

/** What a filter shows. Results from the shared cache also count as reused. */
type Chosen = Outcome | 'shared';
const CHOICES: readonly Chosen[] = [...OUTCOMES, 'shared'];

function groupsOf({ outcome, shared }: ListItem): readonly Chosen[] {
  return shared ? [outcome, 'shared'] : [outcome];
}

function count(items: readonly ListItem[]): ReadonlyMap<Chosen, number> {
  const counts = new Map<Chosen, number>();
  for (const item of items) for (const group of groupsOf(item)) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

interface FilterProps {
  readonly counts: ReadonlyMap<Chosen, number>;
  readonly all: number;
  readonly only: Chosen | undefined;
  readonly onChange: (only: Chosen | undefined) => void;
}

function Filters({ counts, all, only, onChange }: FilterProps) {
  const found = CHOICES.filter((choice) => counts.has(choice));
  if (found.length < 2) return null;
  return (
    <fieldset class="filters">
      <legend class="sr">Filter by outcome</legend>
      <button type="button" class="filter" aria-pressed={only === undefined} onClick={() => onChange(undefined)}>
        all {grouped(all)}
      </button>
      {found.map((choice) => {
        const outcome = choice === 'shared' ? 'reused' : choice;
        return (
          <button
            key={choice}
            type="button"
            class={`filter is-${outcome}`}
            aria-pressed={only === choice}
            onClick={() => onChange(only === choice ? undefined : choice)}
          >
            <Icon of={outcome} />
            {choice} {grouped(counts.get(choice)!)}
          </button>
        );
      })}
    </fieldset>
  );
}

function Lines({ name, items, chosen, onChoose, onOpen, tall = 12 }: ListProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const height = useHeight(box, tall * LINE);
  const keys = useMemo(() => items.map(({ key }) => key), [items]);
  const at = chosen === undefined ? -1 : keys.indexOf(chosen);
  const first = Math.max(0, Math.floor(top / LINE) - SPARE);
  const last = Math.min(items.length, Math.ceil((top + height) / LINE) + SPARE);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && at !== -1) {
      onOpen?.();
      return;
    }
    const next = walk(event, keys, at);
    if (next === undefined) return;
    event.stopPropagation();
    onChoose(next);
    reveal(box.current!, keys.indexOf(next));
  };
  const onClick = (event: MouseEvent) => {
    const clicked = (event.target as Element).closest<HTMLElement>('[data-at]')?.dataset['at'];
    if (clicked !== undefined) onChoose(keys[Number(clicked)]!);
  };
  return (
    <div
      ref={box}
      class="lines"
      role="listbox"
      tabIndex={0}
      aria-label={`${name}: ${grouped(items.length)}`}
      aria-activedescendant={at >= first && at < last ? `${id}-${at}` : undefined}
      style={{ height: `${Math.min(tall, items.length) * LINE + 2}px` }}
      onClick={onClick}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" class="lines-all" style={{ height: `${items.length * LINE}px` }}>
        {items.slice(first, last).map((item, index) => (
          <Line
            key={item.key}
            id={`${id}-${first + index}`}
            item={item}
            place={{ at: first + index, of: items.length }}
            isChosen={item.key === chosen}
          />
        ))}
      </div>
    </div>
  );
}

function reveal(box: HTMLElement, index: number): void {
  const top = index * LINE;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + LINE > box.scrollTop + box.clientHeight) box.scrollTop = top + LINE - box.clientHeight;
}

interface LineProps {
  readonly id: string;
  readonly item: ListItem;
  readonly place: { readonly at: number; readonly of: number };
  readonly isChosen: boolean;
}

function Line({ id, item, place, isChosen }: LineProps) {
  return (
    <div
      id={id}
      class={`line is-${item.outcome}`}
      role="option"
      aria-selected={isChosen}
      aria-posinset={place.at + 1}
      aria-setsize={place.of}
      tabIndex={-1}
      data-at={place.at}
      style={{ top: `${place.at * LINE}px` }}
    >
      <span class="line-word">
        <Icon of={item.outcome} />
        <span>{item.word}</span>
      </span>
      <span class="line-label">{oneLine(item.label)}</span>
      <span class="line-hint">{oneLine(item.hint)}</span>
      <span class="line-amount">{item.amount}</span>
    </div>
  );
}

import { walk } from './keys.js';
import { type ViewName, view } from './state.js';

interface TabsProps {
  readonly names: readonly ViewName[];
  readonly titles: Readonly<Record<ViewName, string>>;
}

export function Tabs({ names, titles }: TabsProps) {
  const shown = view.value;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') return;
    const next = walk(event, names, names.indexOf(shown)) as ViewName | undefined;
    if (next === undefined) return;
    view.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {names.map((name) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          aria-selected={name === shown}
          aria-controls={`view-${name}`}
          tabIndex={name === shown ? 0 : -1}
          onClick={() => {
            view.value = name;
          }}
        >
          {titles[name]}
        </button>
      ))}
    </div>
  );
}

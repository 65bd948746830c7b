import { useEffect } from 'preact/hooks';
import { isTyping, leaveDetail } from './keys.js';
import { RunPage } from './run-page.js';
import type { PageSource } from './source.js';
import { type ViewName, view } from './state.js';
import { timeText } from './words.js';

/** A report of one run. */
export function ReportPage({ source, runId }: { readonly source: PageSource; readonly runId: string }) {
  usePageKeys();
  const { report } = source;
  return (
    <>
      <a class="skip" href="#detail">
        Skip to the selected phase
      </a>
      <main>
        <RunPage source={source} runId={runId} />
      </main>
      <footer class="foot">
        <KeyHelp />
        {report && (
          <p>
            Made by <code>taskflow report {runId}</code> at {timeText(report.madeAt)}
            {report.outputs ? '' : ', without contents'}.
          </p>
        )}
      </footer>
    </>
  );
}

const KEYS: readonly [string, string][] = [
  ['1 2 3', 'graph, timeline, table'],
  ['arrow keys', 'another phase, item or row'],
  ['Enter', 'to its detail'],
  ['Esc', 'back'],
  ['/', 'search'],
];

export function KeyHelp() {
  return (
    <dl class="keys" aria-label="Keys">
      {KEYS.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}

const VIEWS: Readonly<Record<string, ViewName>> = { 1: 'graph', 2: 'timeline', 3: 'table', 4: 'rows' };

/** Keys that work everywhere on the page. */
export function usePageKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === 'Escape' && isTyping(event)) leaveDetail();
      if (isTyping(event)) return;
      if (event.key === '/') {
        const search = document.querySelector<HTMLElement>('.view:not(.is-hidden) .search, .detail .search');
        if (search) {
          event.preventDefault();
          search.focus();
        }
      }
      const wanted = Object.hasOwn(VIEWS, event.key) ? VIEWS[event.key] : undefined;
      if (wanted !== undefined && document.getElementById(`tab-${wanted}`)) view.value = wanted;
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { oneLine } from '../../../util/terminal-text.js';
import { KeyHelp, usePageKeys } from '../app.js';
import { RunPage } from '../run-page.js';
import { CommandList } from '../texts.js';
import { runWord } from '../words.js';
import { CachePage } from './cache-page.js';
import { connection } from './changes.js';
import { Decide } from './decide.js';
import { beside, type LiveSource, liveSource, locked, shownRun } from './live-source.js';
import { RunsPage } from './runs-page.js';
import { type NoSession, openSession } from './session.js';

type Entered = LiveSource | NoSession | undefined;

/** The page of a server. The address names the view: `#/`, `#/runs/ID`, `#/cache`. */
export function LivePage() {
  usePageKeys();
  const entered = useSignal<Entered>(undefined);
  useEffect(() => {
    void openSession().then((session) => {
      entered.value = typeof session === 'string' ? session : liveSource(session);
    });
  }, []);
  if (entered.value === undefined) return null;
  if (locked.value || entered.value === 'locked') return <Locked />;
  if (entered.value === 'away') return <Away />;
  return <Inside source={entered.value} />;
}

function Inside({ source }: { readonly source: LiveSource }) {
  const place = usePlace();
  const title = titleOf(place);
  useEffect(() => {
    document.title = `${title} · taskflow`;
  }, [title]);
  const runId = /^#\/runs\/([\w-]+)$/.exec(place)?.[1];
  return (
    <>
      <Nav place={place} readOnly={!source.decides} />
      {connection.value === 'lost' && (
        <p class="lost" role="status">
          The connection was lost: this shows what was there before. Asking again…
        </p>
      )}
      <main>
        {runId !== undefined && (
          <RunPage source={source} runId={runId} actions={<Decide source={source} runId={runId} />} />
        )}
        {runId === undefined && place === '#/cache' && <CachePage source={source} />}
        {runId === undefined && place !== '#/cache' && <RunsPage source={source} />}
      </main>
      <footer class="foot">{runId !== undefined && <KeyHelp />}</footer>
    </>
  );
}

function titleOf(place: string): string {
  if (place === '#/cache') return 'Cache';
  const run = shownRun.value?.view;
  return run && place === `#/runs/${run.runId}` ? `${oneLine(run.flow)}, ${runWord(run.state)}` : 'Runs';
}

function usePlace(): string {
  const place = useSignal(location.hash);
  useEffect(() => {
    const moved = () => {
      beside.value = undefined;
      place.value = location.hash;
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place.value;
}

function Nav({ place, readOnly }: { readonly place: string; readonly readOnly: boolean }) {
  const current = (name: string) => (name === '#/cache' ? place === name : place !== '#/cache');
  return (
    <header class="nav">
      <nav aria-label="Pages">
        <a href="#/" aria-current={current('#/') ? 'page' : undefined}>
          Runs
        </a>
        <a href="#/cache" aria-current={current('#/cache') ? 'page' : undefined}>
          Cache
        </a>
      </nav>
      <span class="note">{readOnly ? 'taskflow ui, read-only' : 'taskflow ui'}</span>
    </header>
  );
}

function Locked() {
  return (
    <main class="alone">
      <h1>This browser was not let in</h1>
      <p>
        Open the address that <code>taskflow ui</code> has printed last. Each one lets one browser in, once; after a
        start there is a new one.
      </p>
    </main>
  );
}

function Away() {
  return (
    <main class="alone">
      <h1>Nobody answers</h1>
      <p>The server of this page has ended. Start it again:</p>
      <CommandList of={[['taskflow ui', 'and open the address that it prints']]} />
    </main>
  );
}

import { type Signal, signal } from '@preact/signals';
import type { CacheView } from '../../server/cache-view.js';
import type { LiveRun } from '../../server/run-answers.js';
import type { ListedRun } from '../../server/run-list.js';
import type { Detail, RunComparison } from '../../view/types.js';
import type { PageSource } from '../source.js';
import { Changes, connection } from './changes.js';
import { post, type Session } from './session.js';

/** How an action ended, with the output of its command. */
export interface ActionResult {
  readonly ok: boolean;
  readonly said: string;
}

export interface RunsOf {
  readonly runs: readonly ListedRun[];
  readonly total: number;
}

export interface LiveSource extends PageSource {
  list(): Promise<RunsOf | undefined>;
  watchList(changed: () => void): () => void;
  cache(): Promise<CacheView | undefined>;
  act(name: string, body: Readonly<Record<string, unknown>>): Promise<ActionResult>;
}

/** The run that is shown, with what can be decided about it. */
export const shownRun = signal<LiveRun | undefined>(undefined);
/** The run to compare it with; undefined: the one before it. */
export const beside = signal<string | undefined>(undefined);
/** This browser's session has ended: the server was started anew. */
export const locked = signal(false);

/** A run that keeps changing is fetched at this interval, and never while an answer is under way. */
const PAUSE_MS = 300;

const changes = new Changes();

/** The data of a server. */
export function liveSource({ readOnly }: Session): LiveSource {
  const readRun = latest(async (runId: string) => {
    const run = await get<LiveRun>(`/api/runs/${runId}`);
    // Without an answer, the page keeps what it has.
    if (run !== 'away') shownRun.value = run;
    return shownRun.value?.view.runId === runId ? shownRun.value : undefined;
  });
  return {
    decides: !readOnly,
    run: async (runId) => (await readRun(runId))?.view,
    detail: (runId, name) => found<Detail>(`/api/runs/${runId}/detail?${besideQuery({ name })}`),
    compare: (runId) => found<RunComparison>(`/api/runs/${runId}/compare?${besideQuery()}`),
    watch: (runId, changed) => {
      const soon = paced(changed);
      const stops = [changes.on({ runId, changed: soon }), afterChange(beside, soon)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    list: () => found<RunsOf>('/api/runs'),
    watchList: (changed) => changes.on({ changed: paced(changed) }),
    cache: () => found<CacheView>('/api/cache'),
    act,
  };
}

/** The query that names the run to compare with. */
function besideQuery(more: Readonly<Record<string, string>> = {}): URLSearchParams {
  return new URLSearchParams({ ...more, ...(beside.value !== undefined && { with: beside.value }) });
}

async function found<T>(path: string): Promise<T | undefined> {
  const answer = await get<T>(path);
  return answer === 'away' ? undefined : (answer ?? undefined);
}

/** Undefined: not found. `away`: the server does not answer. */
async function get<T>(path: string): Promise<T | 'away' | undefined> {
  try {
    const response = await fetch(path);
    if (response.status === 401) locked.value = true;
    connection.value = 'open';
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    changes.again();
    return 'away';
  }
}

async function act(name: string, body: Readonly<Record<string, unknown>>): Promise<ActionResult> {
  try {
    const response = await post(`/api/${name}`, body);
    if (response.status === 401) locked.value = true;
    const answer = (await response.json()) as ActionResult & { readonly error?: { readonly message: string } };
    return answer.error ? { ok: false, said: answer.error.message } : answer;
  } catch {
    return { ok: false, said: 'taskflow ui does not answer' };
  }
}

function afterChange(of: Signal<unknown>, call: () => void): () => void {
  let isFirst = true;
  return of.subscribe(() => {
    if (!isFirst) call();
    isFirst = false;
  });
}

/** While an answer is under way, only the last of the further requests is kept and sent. */
function latest<T>(ask: (name: string) => Promise<T>): (name: string) => Promise<T> {
  let underWay: Promise<unknown> | undefined;
  let next: { readonly name: string; readonly answer: Promise<T> } | undefined;
  const start = (name: string) => {
    const answer = ask(name).finally(() => {
      underWay = undefined;
    });
    underWay = answer;
    return answer;
  };
  return (name) => {
    if (!underWay) return start(name);
    if (next?.name !== name) {
      const later = () => {
        next = undefined;
        return start(name);
      };
      next = { name, answer: underWay.then(later, later) };
    }
    return next.answer;
  };
}

/** The first call at once, later ones together. */
function paced(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsked = false;
  const next = () => {
    timer = undefined;
    if (isAsked) run();
  };
  const run = () => {
    isAsked = false;
    call();
    timer = setTimeout(next, PAUSE_MS);
  };
  return () => {
    if (timer === undefined) run();
    else isAsked = true;
  };
}

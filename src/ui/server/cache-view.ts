import { type StoreSurvey, surveyStore } from '../../store/survey.js';
import { type PageAnswer, refused } from './answer.js';
import type { UiHost } from './host.js';

/** What the cache page shows. The history of reuse comes from the list of runs. */
export interface CacheView extends StoreSurvey {
  readonly dir: string;
  readonly limits: { readonly maxBytes: number; readonly maxEntries: number; readonly maxAgeMs: number };
}

const MOST_LISTED = 20;

export async function cacheView(host: UiHost): Promise<PageAnswer> {
  const store = await host.store();
  if ('problem' in store) return refused(409, store.problem, 'taskflow doctor says more.');
  const survey = await surveyStore(store, MOST_LISTED);
  return { json: { ...survey, dir: store.dir, limits: store.limits } satisfies CacheView };
}

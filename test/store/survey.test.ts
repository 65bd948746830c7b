import { afterEach, beforeEach, expect, it } from 'vitest';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { storeStatus } from '../../src/store/store-status.js';
import { surveyStore } from '../../src/store/survey.js';
import { LIMITS, type Scratch, scratch } from '../contracts/store-support.js';
import { fillStore } from '../support/fill-store.js';
import { listEntries } from '../support/list-entries.js';

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

it('says what the next collection removes, and removes nothing itself', async () => {
  const options = place.options({ limits: { ...LIMITS, maxEntries: 30 } });
  fillStore(options, 50);
  const before = await listEntries(options);
  const { evicted, ...survey } = await surveyStore(options, 100);
  const { entries, bytes, blobs } = await storeStatus(options);
  expect([survey.entries, survey.bytes, survey.files]).toEqual([entries, bytes, blobs]);
  expect(survey.flows.map(({ flow, entries: count }) => `${flow} ${count}`).sort()).toEqual(['f0 25', 'f1 25']);
  expect(await listEntries(options)).toEqual(before);
  const collected = await collectGarbage(options);
  expect(collected).toMatchObject({ removedEntries: evicted.entries, freedBytes: evicted.bytes });
  expect(evicted.entries).toBe(20);
  const left = new Set((await listEntries(options)).map(({ key }) => key));
  expect(evicted.first.map(({ key }) => key)).toEqual(
    before
      .filter(({ key }) => !left.has(key))
      .map(({ key }) => key)
      .reverse(),
  );
  expect((await surveyStore(options, 5)).evicted).toEqual({ entries: 0, bytes: 0, first: [] });
});

it('the largest and the oldest, and no more than were asked for', async () => {
  const options = place.options();
  fillStore(options, 40);
  const all = await listEntries(options);
  const { largest, oldest } = await surveyStore(options, 7);
  const sorted = (value: (entry: (typeof all)[number]) => number) => all.map(value).sort((a, b) => a - b);
  expect(largest.map(({ bytes }) => bytes)).toEqual(
    sorted(({ bytes }) => bytes)
      .slice(-7)
      .reverse(),
  );
  expect(oldest.map(({ createdAt }) => createdAt)).toEqual(sorted(({ createdAt }) => createdAt).slice(0, 7));
});

it('a store that is not there is empty', async () => {
  expect(await surveyStore(place.options(), 5)).toMatchObject({ entries: 0, bytes: 0, flows: [], largest: [] });
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeptEntries } from '../../src/run/reuse/kept-entries.js';
import { openStore } from '../../src/store/disk-store.js';
import { maybeCollect } from '../../src/store/maybe-collect.js';
import type { StoreOptions } from '../../src/store/options.js';
import { decodeTidyRequest, encodeTidyRequest } from '../../src/store/tidy-request.js';
import { systemClock } from '../../src/util/clock.js';
import { key, makeEntry, type Scratch, scratch } from '../contracts/store-support.js';
import { createTestProject } from '../support/cli.js';
import { fillStore } from '../support/fill-store.js';
import { listEntries } from '../support/list-entries.js';

const LARGE = 4_200;

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

describe('a run does not wait for maintenance', () => {
  test('of a large store: it is left to somebody else, and nothing was done yet', async () => {
    fillStore(place.options(), LARGE);
    const store = openStore(place.options());
    store.put(makeEntry('one more'));
    const asked: StoreOptions[] = [];
    expect(await maybeCollect(store, (options) => asked.push(options) > 0)).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(existsSync(join(place.dir, 'index.json'))).toBe(false);
  });

  test('of a small one it takes a moment, and is done', async () => {
    fillStore(place.options(), 10);
    const store = openStore(place.options());
    store.put(makeEntry('one more'));
    await maybeCollect(store, () => {
      throw new Error('nobody else is needed');
    });
    expect(Object.keys(JSON.parse(readFileSync(join(place.dir, 'index.json'), 'utf8')))).toHaveLength(11);
  });

  test('through the command: a program of its own holds the bounds after the run has ended', async () => {
    const project = createTestProject({
      '.pi/taskflows/config.yaml': 'cache: { maxEntries: 4000 }\n',
      'flow.yaml': 'name: f\nphases:\n  - { id: a, type: script, run: [echo, a], cache: { scope: cross-run } }\n',
    });
    const dir = join(project.root, '.pi/taskflows/cache');
    const options = { ...place.options(), dir, project: { ...place.options().project, root: project.root } };
    fillStore(options, LARGE);
    expect(await project.run(['run', './flow.yaml'])).toMatchObject({ status: 0 });
    for (let i = 0; i < 600 && !existsSync(join(dir, 'collect.json')); i++) await pause(100);
    // A little below the bound; what the run made is the last to go.
    const left = await listEntries(options);
    expect(left).toHaveLength(3_800);
    expect(left[0]).toMatchObject({ flow: 'f', phaseId: 'a' });
    project.remove();
  }, 120_000);

  test('the signing key gets there as it is, and not through the arguments', () => {
    for (const signingKey of ['s'.repeat(40), Buffer.from([0, 255, 10, 13, ...Buffer.alloc(40, 7)]), undefined]) {
      const { project, ...options } = { ...place.options(), ...(signingKey && { signingKey }) };
      const { env: _env, clock: _clock, ...where } = project;
      const decoded = decodeTidyRequest(encodeTidyRequest({ project, ...options }), { env: {}, clock: systemClock });
      expect(decoded.project).toMatchObject(where);
      expect(decoded.signingKey && Buffer.from(decoded.signingKey)).toEqual(signingKey && Buffer.from(signingKey));
    }
  });
});

describe('a miss is explained', () => {
  const identity = { version: 1, flow: 'f', phase: 'p', body: { task: 'new' } };
  const reason = () => new KeptEntries(place.options()).difference(identity, false);

  test('from the nearest entry of the same phase', () => {
    expect(reason(), 'an empty store').toBeUndefined();
    const store = openStore(place.options());
    store.put(makeEntry('old'));
    store.log.flush();
    expect(reason()).toBe('prompt changed: old → new');
  });

  test('with what is certain where the store is too large to be looked through', () => {
    const store = openStore(place.options());
    store.put(makeEntry('old'));
    store.log.flush();
    const row = '"usedAt":1,"inode":1,"bytes":1,"createdAt":1,"flow":"other","phaseId":"p","runId":"r","blobs":[]';
    const lines = Array.from({ length: 20_000 }, (_, i) => `{"key":"${key(`x${i}`)}",${row}}`);
    writeFileSync(
      join(place.dir, 'index.log'),
      `${readFileSync(join(place.dir, 'index.log'), 'utf8')}${lines.join('\n')}\n`,
    );
    expect(reason()).toBe('nothing is kept for these inputs');
  });
});

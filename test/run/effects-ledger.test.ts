import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holderIdentity } from '../../src/process/process-identity.js';
import { LedgerFile } from '../../src/run/effects/ledger-file.js';
import type { EffectLine } from '../../src/run/effects/lines.js';
import { bundleWorker, startWorker } from '../store/processes.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'taskflow-ledger-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => new LedgerFile(folder, 'f');
const at = { args: 'a', phase: 'send' };
const start = (id: string, over?: string, phase = 'send'): EffectLine => ({
  ...at,
  type: 'start',
  id,
  over,
  phase,
  at: 1,
  run: 'r',
  flow: 'f',
  owner: holderIdentity(),
});
const files = () => readdirSync(folder).sort();
const append = (...lines: EffectLine[]) => {
  const ledger = open();
  for (const line of lines) expect(ledger.append(line)).toBeUndefined();
};

describe('who may start', () => {
  it('the first one; a person’s word replaces exactly the start that it was about', () => {
    append(start('1'), start('2'));
    expect(open().read().get(at)).toMatchObject({ id: '1', state: 'open' });
    append(start('3', '2'));
    expect(open().read().get(at)?.id).toBe('1');
    append(start('4', '1'), start('5', '1'));
    expect(open().read().get(at)?.id).toBe('4');
  });

  it('the run after a failure of its own, or after one that ended well; not after one that is only done', () => {
    append(start('1'), { type: 'failed', id: '1' }, start('2'), { type: 'done', id: '2' }, start('3'));
    expect(open().read().get(at)).toMatchObject({ id: '2', state: 'done' });
    append({ type: 'closed', ids: ['2'] }, start('4'));
    expect(open().read().get(at)).toMatchObject({ id: '4', state: 'open' });
    // What is open is closed by no run, however it ends.
    append({ type: 'closed', ids: ['4'] });
    expect(open().read().get(at)?.id).toBe('4');
  });

  it('a line that a crash cut short counts for nothing, and swallows none that follows', () => {
    append(start('1', undefined, 'other'));
    appendFileSync(join(folder, 'f.1.jsonl'), JSON.stringify(start('2')).slice(0, 40));
    append(start('3'));
    expect(open().read().get(at)?.id).toBe('3');
  });

  it('a ledger that cannot be read is not taken for an empty one', () => {
    append(start('1'));
    const ledger = new LedgerFile(join(folder, 'f.1.jsonl'), 'f');
    expect(() => ledger.read()).toThrow();
  });
});

describe('a ledger that has grown', () => {
  it('goes on in a new file with what is held, and nothing is lost to those who had it open', () => {
    const other = open();
    append(start('held', undefined, 'x'), start('kept', undefined, 'y'), { type: 'done', id: 'kept' });
    other.read();
    const ids = Array.from({ length: 500 }, (_, index) => `nothing that anybody holds ${index}`);
    for (let index = 0; index < 20; index++) append({ type: 'closed', ids });
    expect(statSync(join(folder, 'f.1.jsonl')).size).toBeGreaterThan(256 * 1024);
    open().tidy();
    expect(files()).toEqual(['f.2.jsonl']);
    expect(statSync(join(folder, 'f.2.jsonl')).size).toBeLessThan(2_000);
    for (const ledger of [other, open()]) {
      expect([...ledger.read().all()].map(({ id, state }) => [id, state])).toEqual([
        ['held', 'open'],
        ['kept', 'done'],
      ]);
    }
    expect(other.append(start('late'))).toBeUndefined();
    expect(open().read().get(at)?.id).toBe('late');
  });

  it('is carried on by the next one when whoever sealed it died', () => {
    append(start('1'));
    appendFileSync(
      join(folder, 'f.1.jsonl'),
      `\n${JSON.stringify({ type: 'sealed' })}\n${JSON.stringify(start('2', '1'))}\n`,
    );
    // Written after the seal: it counts for nothing.
    expect(open().read().get(at)?.id).toBe('1');
    expect(files()).toEqual(['f.2.jsonl']);
  });

  it('eight processes that start, settle and tidy at once: each side effect is granted to one', async () => {
    const bundle = await bundleWorker('../run/ledger-worker.ts');
    const workers = Array.from({ length: 8 }, (_, index) => startWorker(bundle, [folder, `w${index}`]));
    const granted = (await Promise.all(workers.map(({ ended }) => ended))).flat();
    expect([...granted].sort()).toEqual(Array.from({ length: 30 }, (_, round) => `granted s${round}`).sort());
    expect([...open().read().all()].map(({ state }) => state)).toEqual(Array(30).fill('done'));
    // It was sealed meanwhile, more than once.
    expect(Number(files().at(-1)?.split('.')[1])).toBeGreaterThan(2);
  });
});

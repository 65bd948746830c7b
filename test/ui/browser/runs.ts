import type { JournalLine, ResultLine } from '../../../src/run/journal/lines.js';
import {
  endLine,
  RUN_ID,
  resultLine,
  rowLine,
  runLine,
  STARTED_AT,
  writeJournal,
} from '../../support/written-journal.js';

const usage = (usd: number) => ({ inputTokens: usd * 80_000, cachedInputTokens: 0, outputTokens: usd * 9_000, usd });
const saved = (usd: number, ms: number) => ({ usd, tokens: usd * 90_000, ms });
const at = (ms: number) => STARTED_AT + ms;
const start = (phase: string, ms: number, unit?: string): JournalLine =>
  ({
    type: 'start',
    at: at(ms),
    phase,
    ...(unit && { unit }),
    idempotent: true,
    reason: 'input changed',
  }) as JournalLine;
const said = (text: string) => ({ output: { text, json: null } });

const PHASES = [
  { id: 'files', kind: 'script' },
  { id: 'style', kind: 'agent' },
  { id: 'tests', kind: 'script' },
  { id: 'review', kind: 'map', needs: ['files'] },
  { id: 'risks', kind: 'agent', needs: ['tests', 'review'] },
  { id: 'notes', kind: 'agent', needs: ['style', 'review', 'risks'] },
  { id: 'publish-ok', kind: 'approval', needs: ['notes'] },
  { id: 'publish', kind: 'script', needs: ['publish-ok'] },
];
const REUSED = { hit: 'cross-run' as const, attempts: 0, durationMs: 0, reason: 'age 4m' };
const MODEL = { model: 'large-1', kind: 'agent' as const };

/** What `risks` was made from: the digest of the sources, and whom it asks. */
const madeFrom = (sources: string, model: string) => ({
  key: 'c'.repeat(64),
  execution: `risks ${sources}`,
  identity: {
    fingerprints: [{ entry: 'glob:src/*', value: sources.repeat(64), parts: { 'src/payments.ts': sources } }],
    agent: { runner: 'large', model },
    body: { task: 'Which risks does this change have?' },
    env: { TOKEN: 'sealed:00000000:ab' },
    references: { tests: '0'.repeat(16) },
  },
});

/** A run with one of everything: reused, executed, tried again, failed, waiting, not begun. */
export function writeRichRun(root: string): void {
  const items = Array.from({ length: 24 }, (_, index) => item(index + 1));
  const asked = {
    task: `Which risks does this change have?\n\n${'A line of the prompt.\n'.repeat(30)}`,
    runner: 'large',
  };
  writeJournal(root, [
    runLine(PHASES, { flow: 'release', file: 'release.yaml', args: { version: '2.1' } }),
    start('files', 5),
    start('tests', 8),
    resultLine('style', {
      at: at(10),
      ...REUSED,
      ...MODEL,
      saved: saved(0.04, 3_100),
      ...said('Say what changed first.'),
    }),
    resultLine('files', {
      at: at(60),
      durationMs: 55,
      reason: 'input changed: glob:src/* (src/payments.ts)',
      ...said('24'),
    }),
    ...items.flatMap(({ begun, line }) => [...(begun === undefined ? [] : [start('review', begun, line.unit)]), line]),
    resultLine('review', {
      ...{ at: at(4_900), kind: 'map', reason: '3 of 24 executed, 21 reused', durationMs: 4_800 },
      ...{ items: { total: 24, executed: 3, reused: 21, failed: 0 }, usage: usage(0.09), saved: saved(0.63, 21_000) },
    }),
    resultLine('tests', {
      at: at(6_200),
      durationMs: 6_190,
      reason: 'input changed: glob!:src/* (src/payments.ts)',
      ...said('812 passed'),
    }),
    {
      ...{
        type: 'attempt',
        at: at(7_000),
        phase: 'risks',
        attempt: 1,
        durationMs: 700,
        usage: usage(0.01),
        retryInMs: 1_000,
      },
      failure: { code: 'runner', message: 'overloaded: try again later', transient: true },
    } as JournalLine,
    start('risks', 7_200),
    resultLine('risks', {
      ...{
        at: at(10_400),
        ...MODEL,
        durationMs: 4_100,
        attempts: 2,
        reason: 'upstream tests changed',
        usage: usage(0.12),
      },
      ...{
        inputs: asked,
        ...madeFrom('b', 'large-1'),
        ...said('Two risks:\n\n1. A payment may be retried twice.\n2. Nobody has tested the parser.'),
      },
    }),
    resultLine('notes', {
      at: at(10_410),
      ...REUSED,
      ...MODEL,
      saved: saved(0.11, 9_000),
      ...said('# Release notes\n\n- Payments are retried once.'),
    }),
    { type: 'ask', at: at(10_420), phase: 'publish-ok', text: 'Publish these notes?', digest: 'ab'.repeat(32) },
    resultLine('publish-ok', {
      at: at(10_421),
      kind: 'approval',
      status: 'paused',
      reason: 'waits for an approval',
      durationMs: 0,
    }),
    { type: 'warning', at: at(10_422), message: 'the cache is nearly full: taskflow cache gc' },
    endLine({ at: at(10_430), status: 'paused', durationMs: 10_430, spent: usage(0.22), saved: saved(0.78, 33_100) }),
  ]);
}

function item(index: number): { readonly begun?: number; readonly line: ResultLine } {
  const base = { type: 'unit' as const, kind: 'map' as const, unit: `item ${index}`, model: 'large-1' };
  const answer = said(`src/file-${index}.ts looks right. One remark: a branch that no test reaches.`);
  if (index % 8 !== 3)
    return {
      line: resultLine('review', {
        ...{ ...base, ...REUSED, at: at(70), saved: saved(0.03, 1_000), ...answer },
        ...(index > 20 && { shared: true as const }),
      }),
    };
  const begun = 80 + index * 40;
  const reason = 'context changed: src/payments.ts';
  const ended = { at: at(begun + 3_000), durationMs: 3_000 };
  return { begun, line: resultLine('review', { ...base, ...ended, reason, usage: usage(0.03), ...answer }) };
}

/** Another run of the same flow, an hour before, in which everything ran. */
export const BEFORE_ID = '20260101-110000-bbbbbb';
export function writeRunBefore(root: string): void {
  const hour = 3_600_000;
  const ran = (id: string, usd: number, more: Partial<ResultLine> = {}) =>
    resultLine(id, { at: at(-hour + 5_000), usage: usage(usd), ...more });
  const head = { flow: 'release', file: 'release.yaml', runId: BEFORE_ID, at: at(-hour) };
  const results = [
    ran('files', 0),
    ran('style', 0.04),
    ran('review', 0.72),
    ran('tests', 0),
    ran('risks', 0.12, madeFrom('a', 'large-0')),
    ran('notes', 0.11),
  ];
  const end = endLine({ at: at(-hour + 30_000), durationMs: 30_000, spent: usage(0.99) });
  writeJournal(root, [runLine(PHASES, head), ...results, end], BEFORE_ID);
}

/** A batch of so many rows. Every hundredth failed, every seventh was executed. */
export function writeBatch(root: string, rows: number): void {
  const lines = function* (): Generator<JournalLine> {
    yield runLine(
      [
        { id: 'ask', kind: 'agent' },
        { id: 'check', needs: ['ask'] },
      ],
      {
        ...{ flow: 'topics', file: 'topics.yaml', mode: 'batch', over: 'topics.csv', rows },
      },
    );
    for (let row = 1; row <= rows; row++) {
      const path = `rows/${row.toString(16).padStart(24, '0')}`;
      const failed = row % 100 === 0;
      const executed = failed || row % 7 === 0;
      const reuse = executed ? {} : REUSED;
      const failure = failed ? { code: 'expect' as const, message: 'the answer has no source' } : undefined;
      yield resultLine(`${path}/ask`, {
        ...MODEL,
        ...reuse,
        ...(executed && { usage: usage(0.002) }),
        ...said(`About topic ${row}.`),
      });
      yield resultLine(`${path}/check`, { ...reuse, ...(failure && { status: 'failed', failure }) });
      const reuseCounts = executed ? { executed: 2, run: 0, crossRun: 0 } : { executed: 0, run: 0, crossRun: 2 };
      yield rowLine(row, {
        path,
        reuse: reuseCounts,
        ...(failure && { status: 'failed', failure: { phase: 'check', ...failure } }),
      });
    }
    yield endLine({ status: 'failed', spent: usage(2.1), saved: saved(12, 800_000) });
  };
  writeJournal(root, lines());
}

export { RUN_ID };

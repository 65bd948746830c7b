import { describe, expect, it } from 'vitest';
import { createStyle } from '../../src/cli/terminal/style.js';
import { closingLines } from '../../src/cli/view/closing.js';
import { drawRun } from '../../src/cli/view/draw.js';
import { applyEvent, createRunState, type RunState } from '../../src/cli/view/run-state.js';
import { createRunView } from '../../src/cli/view/run-view.js';
import { runTimeLeft } from '../../src/cli/view/time-left.js';
import type { RunEvent, RunStatus } from '../../src/model/event.js';
import { dagOrder } from '../../src/plan/dag-order.js';
import { displayWidth, sanitize, truncate } from '../../src/util/terminal-text.js';
import { phaseEnd, RUN_STARTED_AT, runEvent, runStart } from '../support/events.js';

const plain = createStyle(false);
const usage = { inputTokens: 12_000, cachedInputTokens: 0, outputTokens: 300, usd: 0.04 };

function fold(...events: RunEvent[]): RunState {
  const state = createRunState();
  for (const event of events) applyEvent(state, event);
  return state;
}

function picture(state: RunState, columns = 100, rows = 30): string[] {
  return drawRun(state, { style: plain, columns, rows, now: RUN_STARTED_AT + 5_000, tick: 0 });
}

function runEnd(status: RunStatus): RunEvent {
  const saved = { usd: 0.4, tokens: 30_000, ms: 180_000 };
  return runEvent({ type: 'run-end', status, spent: { usd: 0.12, tokens: 12_300 }, saved, durationMs: 12_000 });
}

const mixed = () => [
  runStart(['collect', 'review', 'files', 'check', 'publish', 'notify']),
  phaseEnd('collect', {
    cacheHit: 'cross-run',
    ageMs: 360_000,
    attempts: 0,
    saved: { usd: 0.04, tokens: 9, ms: 12_000 },
  }),
  phaseEnd('review', {
    kind: 'agent',
    reason: 'input changed: file:package.json',
    model: 'sonnet',
    usage,
    durationMs: 34_000,
  }),
  runEvent({ type: 'phase-start', phase: 'files', reason: 'first time' }),
  runEvent({ type: 'phase-progress', phase: 'files', items: { total: 40, done: 9, failed: 1, reused: 3 } }),
  phaseEnd('check', { status: 'failed', failure: { code: 'exit', message: 'npm ended with status 1' } }),
  phaseEnd('notify', { status: 'skipped', reason: 'when: false', attempts: 0 }),
];

describe('the picture of a run', () => {
  it('shows of a map the item under way and what it has spent so far, on 80 columns too', () => {
    const items = { total: 12, done: 6, failed: 0, reused: 0, current: 'item 7 (src/seven.ts)', running: 3 };
    const progress = runEvent({ type: 'phase-progress', phase: 'files', items, usage: { ...usage, usd: 0.08 } });
    const start = runEvent({ type: 'phase-start', phase: 'files', reason: 'first time' });
    const line = picture(fold(runStart(['files']), start, progress), 80)[1];
    expect(line).toContain(' 6/12 · ');
    expect(line).toContain(' · $0.08 · item 7 (src/seven.ts), 2 more');
  });

  it('says until when it waits for a usage limit, and no longer than that', () => {
    const limit = (more: object) =>
      runEvent({
        ...{ type: 'limit', phase: 'a', runner: 'claude', until: RUN_STARTED_AT + 6_000 },
        ...{ known: true, waits: true, error: 'x', ...more },
      });
    const header = (more: object) => picture(fold(runStart(['a']), limit(more)), 80)[0];
    expect(header({})).toMatch(/ · waiting until \d\d:\d\d for claude's limit$/);
    expect(header({ known: false })).toMatch(/ · waiting for claude's limit, asking again at \d\d:\d\d$/);
    expect(header({ until: RUN_STARTED_AT + 4_000 })).not.toContain('waiting');
    expect(header({ waits: false })).not.toContain('waiting');
  });

  it('says how long it will take where the last run tells it of every phase, and not otherwise', () => {
    const needs = (_: string, index: number) => (index === 0 ? [] : [['a'], ['a'], ['b', 'c']][index - 1]!);
    const start = runEvent({ type: 'phase-start', phase: 'a', reason: 'first time' });
    const state = fold(runStart(['a', 'b', 'c', 'd'], needs), start);
    const header = (usual: Record<string, number>, now = RUN_STARTED_AT + 4_000) =>
      drawRun(state, { style: plain, columns: 100, rows: 24, now, tick: 0, usual: new Map(Object.entries(usual)) })[0];
    // b and c at once: the longer one counts.
    expect(header({ a: 10_000, b: 20_000, c: 50_000, d: 1_000 })).toContain('4s · about 57s left');
    expect(header({ a: 10_000, b: 20_000, c: 50_000 })).not.toContain('left');
    expect(header({ a: 1, b: 0, c: 0, d: 0 })).not.toContain('left');
  });

  it('goes in a map by the items that were executed', () => {
    const items = { total: 30, done: 14, failed: 0, reused: 10 };
    const start = runEvent({ type: 'phase-start', phase: 'files', reason: 'first time' });
    const state = fold(runStart(['files']), start, runEvent({ type: 'phase-progress', phase: 'files', items }));
    expect(runTimeLeft(state, new Map([['files', 1]]), RUN_STARTED_AT + 8_000)).toBe(32_000);
  });

  it('adds up the turns of all items of a phase', () => {
    const turn = (unit: string, turns: number) => runEvent({ type: 'phase-progress', phase: 'files', unit, turns });
    const turns = [turn('item 1', 1), turn('item 2', 1), turn('item 1', 2), turn('item 3', 1)];
    const counts = { total: 3, executed: 3, reused: 0, failed: 0 };
    const end = phaseEnd('files', { kind: 'map', items: counts, reason: 'first time', usage });
    const start = runEvent({ type: 'phase-start', phase: 'files', reason: 'first time' });
    expect(picture(fold(runStart(['files']), start, ...turns, end))[1]).toContain(' · 4 turns · ');
  });

  it('has a line per phase with state, figures and the reason for running or not', () => {
    expect(picture(fold(...mixed()))).toEqual([
      'release run-1  3 of 6 done · 1 reused · 1 running · 1 failed · 5s',
      '● collect  CACHED (cross-run · age 6m · saved $0.04, 12s)',
      '✔ review     34s · sonnet · 12.3k tokens · $0.04 · ran (input changed: file:package.json)',
      '⠋ files       5s · ████░░░░░░░░░░░░ 10/40 · 3 reused · 1 failed',
      '✖ check     1.2s · npm ended with status 1',
      '○ publish',
      '– notify   skipped (when: false)',
    ]);
  });

  it('shows no amount of money where the runner reports none', () => {
    const unpriced = { inputTokens: 900, cachedInputTokens: 0, outputTokens: 50 };
    const [, line] = picture(fold(runStart(['a']), phaseEnd('a', { usage: unpriced })));
    expect(line).toBe('✔ a      1.2s · 950 tokens · ran (first time)');
  });

  it('drops the least important figures on a narrow terminal and keeps the reason', () => {
    expect(picture(fold(...mixed()), 70)[2]).toBe('✔ review     34s · $0.04 · ran (input changed: file:package.json)');
    expect(picture(fold(...mixed()), 40)[2]).toBe('✔ review     34s · ran (input changed:…');
  });

  it('keeps the counts of a map where there is no room for its bar', () => {
    for (const columns of [30, 45, 60, 100]) {
      expect(picture(fold(...mixed()), columns).find((line) => line.includes('files'))).toContain('10/40');
    }
  });

  it('is never wider than the terminal nor taller than it, whatever the size', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `phase-${index}-${'界'.repeat(index % 20)}`);
    const events = [runStart(ids), ...ids.slice(0, 150).map((id) => phaseEnd(id, { reason: 'r'.repeat(300) }))];
    events.push(...ids.slice(150, 200).map((id) => runEvent({ type: 'phase-start', phase: id, reason: 'first time' })));
    const state = fold(...events);
    for (const columns of [20, 21, 40, 80, 200]) {
      for (const rows of [3, 5, 10, 24, 100]) {
        const lines = picture(state, columns, rows);
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines) expect(displayWidth(line)).toBeLessThan(Math.max(21, columns));
      }
    }
  });

  it('shows what is under way and what failed first when not everything fits', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
    const state = fold(
      runStart(ids),
      ...ids.slice(0, 500).map((id) => phaseEnd(id, { cacheHit: 'run', ageMs: 1 })),
      phaseEnd('p7', { status: 'failed', failure: { code: 'exit', message: 'no' } }),
      runEvent({ type: 'phase-start', phase: 'p900', reason: 'first time' }),
    );
    const lines = picture(state, 80, 10);
    expect(lines).toHaveLength(10);
    expect(lines.some((line) => line.startsWith('✖ p7 '))).toBe(true);
    expect(lines.some((line) => line.startsWith('⠋ p900'))).toBe(true);
    expect(lines.at(-1)).toMatch(/… 99\d more phases/);
  });

  it('says where phases are left out', () => {
    const ids = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const executed = fold(runStart(ids), ...ids.map((id) => phaseEnd(id)), runEnd('success'));
    expect(picture(executed, 80, 10)[1]).toBe('  … 2 earlier phases');
    expect(picture(executed, 80, 10).at(-1)).toContain('p9');
    const reused = fold(
      runStart(ids),
      ...ids.map((id) => phaseEnd(id, { cacheHit: 'run', ageMs: 1 })),
      runEnd('success'),
    );
    expect(picture(reused, 80, 10).at(-1)).toBe('  … 2 more phases');
  });

  it('shows nested phases under their parent only while they are under way', () => {
    const start = runEvent({ type: 'phase-start', phase: 'sub', reason: 'first time' });
    const inner = runEvent({ type: 'phase-start', phase: 'sub/3/plan', reason: '' });
    expect(picture(fold(runStart(['sub', 'next']), start, inner)).slice(1)).toEqual([
      '⠋ sub      5s',
      '  ⠋ 3/plan     5s',
      '○ next',
    ]);
    expect(picture(fold(runStart(['sub']), start, inner, phaseEnd('sub/3/plan')))).toHaveLength(2);
  });

  it('never lets what a program says reach the terminal as a control sequence', () => {
    const evil = '\x1b[2J\x1b]0;title\x07\x9b31mred\r\nnext\x00\x1b[31m';
    const state = fold(
      runStart(['a', 'b']),
      phaseEnd('a', {
        status: 'failed',
        reason: evil,
        failure: { code: 'exit', message: evil, hint: evil, detail: evil },
      }),
      runEvent({ type: 'phase-start', phase: 'b', reason: evil }),
      runEvent({ type: 'phase-progress', phase: 'b', tool: evil, model: evil }),
      runEnd('failed'),
    );
    const text = [...picture(state), ...closingLines(state, plain)].join('\n');
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(text).toContain('red');
  });
});

describe('what to type next', () => {
  const NONE = { usd: 0, tokens: 0, ms: 0 };
  const ended = (more: object) => {
    const end = {
      type: 'run-end',
      status: 'failed',
      spent: { usd: 0, tokens: 0 },
      saved: NONE,
      durationMs: 1,
      ...more,
    };
    return closingLines(fold(runStart([]), runEvent(end as never)), plain).join('\n');
  };

  it('names no run that left nothing behind', () => {
    expect(ended({})).toContain('taskflow trace run-1');
    expect(ended({ unrecorded: true })).not.toMatch(/taskflow (trace|resume)/);
  });

  it('does not promise that a run in doubt goes on by itself', () => {
    const error = { phase: 'ship', code: 'in-doubt', message: 'nobody knows', hint: 'add --rerun ship' };
    expect(ended({ error })).toMatch(/taskflow resume run-1 … +goes on, with --rerun or --skip/);
  });
});

describe('the closing lines', () => {
  it('say what was spent and what was saved, separately', () => {
    expect(closingLines(fold(runStart(['a']), phaseEnd('a'), runEnd('success')), plain)).toEqual([
      '✔ release succeeded after 12s: 1 executed, 0 reused',
      '  spent $0.12 (12.3k tokens) · saved $0.40 (30k tokens, 3m)',
    ]);
  });

  it('say for a failure the phase, the cause, the tail of stderr, a hint and what to type next', () => {
    const detail = `${Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')}\n`;
    const failure = { code: 'exit', message: 'npm ended with status 1', detail, hint: 'try npm test' } as const;
    const lines = closingLines(
      fold(runStart(['test']), phaseEnd('test', { status: 'failed', failure }), runEnd('failed')),
      plain,
    );
    expect(lines[0]).toBe('✖ test failed: npm ended with status 1');
    expect(lines).toContain('  │ line 29');
    expect(lines).not.toContain('  │ line 3');
    expect(lines).toContain('  → try npm test');
    expect(lines.at(-2)).toContain('taskflow trace run-1');
    expect(lines.at(-1)).toContain('taskflow resume run-1');
  });

  it('tell what stopped the run before what may fail, and count them apart', () => {
    const failure = { code: 'exit', message: 'status 1' } as const;
    const may = phaseEnd('may', { status: 'failed', failure, optional: true });
    const state = fold(
      runStart(['may', 'must']),
      may,
      phaseEnd('must', { status: 'failed', failure }),
      runEnd('failed'),
    );
    const lines = closingLines(state, plain);
    expect(lines[0]).toBe('✖ must failed: status 1');
    expect(lines[2]).toBe('! may failed, and is optional: status 1');
    expect(lines[4]).toContain('1 failed, 1 optional failed');
    expect(picture(state)[0]).toContain('1 failed · 1 optional failed');
    expect(
      picture(state)
        .slice(1)
        .map((line) => line[0]),
    ).toEqual(['!', '✖']);
  });

  it('say for a waiting approval how to decide it', () => {
    const asked = runEvent({ type: 'approval', phase: 'ask', text: 'Sure?', digest: 'd' });
    const events = [
      runStart(['ask']),
      asked,
      phaseEnd('ask', { kind: 'approval', status: 'paused' }),
      runEnd('paused'),
    ];
    expect(closingLines(fold(...events), plain).join('\n')).toContain('taskflow approve run-1 ask');
  });

  it('never call an unknown cost free', () => {
    const end = runEvent({
      type: 'run-end',
      status: 'success',
      spent: { usd: null, tokens: 10 },
      saved: { usd: 0, tokens: 0, ms: 0 },
      durationMs: 1,
    });
    expect(closingLines(fold(runStart([]), end), plain)[1]).toBe('  spent 10 tokens (price unknown) · saved nothing');
  });
});

describe('the view', () => {
  const clock = { now: () => RUN_STARTED_AT, elapsed: () => 0 };
  const sink = (isLive: boolean) => {
    const writes: string[] = [];
    const out = {
      write: (text: string) => void writes.push(text),
      draw: (text: string) => void writes.push(text),
      isLive,
      color: false,
      columns: 80,
      rows: 24,
      onResize: () => () => {},
    };
    return { writes, out };
  };

  it('writes a thousand plain lines in a few writes, in order', () => {
    const { writes, out } = sink(false);
    const view = createRunView({ out, clock });
    const ids = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
    view.onEvent(runStart(ids));
    for (const id of ids) view.onEvent(phaseEnd(id, { cacheHit: 'cross-run', ageMs: 60_000, attempts: 0 }));
    view.onEvent(runEnd('success'));
    view.stop();
    expect(writes.length).toBeLessThan(10);
    const lines = writes.join('').split('\n');
    expect(lines[1]).toBe('● p0  CACHED (cross-run · age 1m)');
    expect(lines[1_000]).toBe('● p999  CACHED (cross-run · age 1m)');
    expect(lines).toHaveLength(1_004);
  });

  it('writes plain lines soon, not only at the end', async () => {
    const { writes, out } = sink(false);
    const view = createRunView({ out, clock });
    view.onEvent(runStart(['a']));
    view.onEvent(runEvent({ type: 'phase-start', phase: 'a', reason: 'first time' }));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(writes.join('')).toContain('▸ a started');
    view.stop();
  });

  it('says on both kinds of output what is continued', () => {
    for (const live of [true, false]) {
      const { writes, out } = sink(live);
      const view = createRunView({ out, clock });
      const continues = { runId: 'run-0', reusable: 2, total: 3, notice: 'failed 5m ago' };
      view.onEvent(runEvent({ type: 'run-start', flow: 'release', phases: [], continues }));
      view.stop();
      const line = 'continuing run run-0 (failed 5m ago): 2 of 3 phases reused; --fresh starts over';
      expect(writes.join('')).toContain(line);
    }
  });

  it('offers --fresh only where a run continues by itself, and counts nothing where nothing is known', () => {
    const said = (continues: object) => {
      const { writes, out } = sink(false);
      const view = createRunView({ out, clock });
      view.onEvent(runEvent({ type: 'run-start', flow: 'x', phases: [], continues } as never));
      view.stop();
      return writes
        .join('')
        .split('\n')
        .find((line) => line.startsWith('continuing'));
    };
    const facts = { runId: 'run-0', reusable: 2, total: 3 };
    expect(said(facts)).toBe('continuing run run-0: 2 of 3 phases reused');
    const unknown = { ...facts, reusable: 0, known: 'at-least', notice: 'crashed 4s ago' };
    expect(said(unknown)).toBe('continuing run run-0 (crashed 4s ago); --fresh starts over');
  });

  it('draws in place on a terminal, and leaves the final picture without a trace of the live one', async () => {
    const { writes, out } = sink(true);
    const view = createRunView({ out, clock });
    view.onEvent(runStart(['a', 'b']));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(writes.length).toBeGreaterThanOrEqual(1);
    expect(writes[1]).toContain('\x1b[3A');
    for (const id of ['a', 'b']) view.onEvent(phaseEnd(id));
    view.onEvent(runEnd('success'));
    const live = writes.length;
    view.stop();
    expect(writes.slice(live).join('')).toContain('✔ a');
    expect(writes.at(-1)).not.toContain('\x1b[');
    const settled = writes.length;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(writes).toHaveLength(settled);
  });

  it('does not flood the terminal with a thousand phases at the end', () => {
    const { writes, out } = sink(true);
    const view = createRunView({ out, clock });
    const ids = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
    view.onEvent(runStart(ids));
    for (const id of ids) view.onEvent(phaseEnd(id, { cacheHit: 'cross-run', ageMs: 60_000 }));
    view.onEvent(runEnd('success'));
    view.stop();
    const lines = writes.join('').split('\n');
    expect(lines.length).toBeLessThan(80);
    expect(lines.join('\n')).toMatch(/… 9\d\d more phases/);
  });
});

describe('the order of the DAG', () => {
  it('puts every phase after what it needs and otherwise keeps the order of the file', () => {
    const needs: Record<string, string[]> = { c: ['a', 'b'], d: [], a: ['b'], b: [], e: ['c', 'missing'] };
    const nodes = Object.entries(needs).map(([id, list]) => ({ id, needs: list }));
    expect(dagOrder(nodes).map(({ id }) => id)).toEqual(['b', 'a', 'c', 'd', 'e']);
  });

  it('copes with ten thousand phases in reverse order, and with a cycle', () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => ({ id: `p${index}`, needs: [`p${index + 1}`] }));
    expect(dagOrder(chain)[0]!.id).toBe('p9999');
    const cycle = [
      { id: 'a', needs: ['b'] },
      { id: 'b', needs: ['a'] },
    ];
    expect(dagOrder(cycle)).toHaveLength(2);
  });
});

describe('text for the terminal', () => {
  it('is measured in cells and cut with an ellipsis', () => {
    expect(displayWidth('a界\x1b[31mb\x1b[39m')).toBe(4);
    expect(truncate('abcdef', 4)).toBe('abc…');
    expect(displayWidth(truncate('界界界界', 6))).toBeLessThanOrEqual(6);
    expect(truncate('\x1b[31mabcdef\x1b[39m', 4)).toBe('\x1b[31mabc…\x1b[0m');
  });
  it('keeps line ends and drops control sequences', () => {
    expect(sanitize('a\r\nb\x1b[1;31mc\x1b[0m\td')).toBe('a\nbc\td');
  });
});

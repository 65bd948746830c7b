import { expect } from 'vitest';
import type { Edge, Flow, Phase, TaskBody } from '../../src/model/flow.js';
import { KINDS, mayBeCrossRun } from '../../src/model/kind.js';
import { parseCondition } from '../../src/plan/condition-parse.js';
import { findCycles } from '../../src/plan/graph.js';
import { parseTemplate, templateRefs } from '../../src/plan/template.js';

/** What the engine relies on without looking again. */
export function expectUsable(flow: Flow): void {
  expect(JSON.parse(JSON.stringify(flow))).toEqual(flow);
  expect(flow.name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
  expect(flow.phases.length).toBeGreaterThan(0);
  expect(flow.concurrency ?? 8).toBeGreaterThan(0);
  expect(flow.idleTimeoutMs).toBeGreaterThanOrEqual(0);
  const ids = new Set(flow.phases.map(({ id }) => id));
  expect(ids.size).toBe(flow.phases.length);
  expect(ids).toContain(flow.result);
  expect(findCycles(flow.phases)).toEqual([]);
  expect(flow.phases.filter(({ final }) => final).length).toBeLessThanOrEqual(1);
  for (const [name, spec] of Object.entries(flow.args)) {
    expect(['__proto__', 'constructor', 'prototype']).not.toContain(name);
    expect(['string', 'number', 'boolean', 'enum', 'path', 'json']).toContain(spec.type);
  }
  for (const phase of flow.phases) expectPhase(phase, ids, flow);
}

function expectPhase(phase: Phase, ids: ReadonlySet<string>, flow: Flow): void {
  expect(KINDS).toContain(phase.kind);
  expect(phase.id).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]*$/);
  for (const { id, referenced } of phase.needs as readonly Edge[]) {
    expect(ids).toContain(id);
    expect(typeof referenced).toBe('boolean');
  }
  for (const list of [phase.context, phase.outputs, phase.cache.fingerprint]) {
    for (const entry of list) expect(typeof entry).toBe('string');
  }
  for (const ms of [phase.timeoutMs, phase.idleTimeoutMs, phase.cache.ttlMs]) {
    if (ms !== undefined) expect(ms).toBeGreaterThan(0);
  }
  if (phase.retry)
    expect(phase.retry).toEqual({ max: expect.any(Number), backoffMs: expect.any(Number), factor: expect.any(Number) });
  if (phase.cache.scope === 'cross-run') {
    expect(mayBeCrossRun(phase.kind)).toBe(true);
    expect(phase.idempotent).toBe(true);
  }
  for (const condition of conditionsOf(phase)) expect(parseCondition(condition, itemName(phase)).ok).toBe(true);
  for (const text of textsOf(phase)) {
    const template = parseTemplate(text, itemName(phase));
    expect(template.suspects.filter(({ certain }) => certain)).toEqual([]);
    for (const ref of templateRefs(template)) {
      if (ref.root === 'args') expect(flow.args).toHaveProperty([ref.name]);
      if (ref.root !== 'steps' || ref.name === phase.id) continue;
      expect(phase.needs.map(({ id }) => id)).toContain(ref.name);
    }
  }
  if ((phase.kind === 'flow' || phase.kind === 'expand') && phase.source.from === 'inline')
    expectUsable(phase.source.flow);
}

function itemName(phase: Phase): string {
  return phase.kind === 'map' ? phase.as : 'item';
}

function conditionsOf(phase: Phase): readonly string[] {
  const own =
    phase.kind === 'gate' ? phase.eval : phase.kind === 'loop' && phase.until !== undefined ? [phase.until] : [];
  return phase.when === undefined ? own : [phase.when, ...own];
}

function textsOf(phase: Phase): readonly string[] {
  const task = (body: TaskBody | undefined) => (body ? [body.task, body.systemPrompt ?? ''] : []);
  switch (phase.kind) {
    case 'agent':
    case 'reduce':
    case 'loop':
      return task(phase.body);
    case 'script':
      return commandTexts(phase.body);
    case 'map':
      return phase.body.type === 'task'
        ? task(phase.body)
        : phase.body.type === 'run'
          ? commandTexts(phase.body)
          : [phase.body.use];
    case 'gate':
      return [...task(phase.body), ...task(phase.score?.judge)];
    case 'approval':
      return [phase.task];
    case 'parallel':
    case 'race':
    case 'tournament':
      return phase.branches.flatMap(({ body }) => (body.type === 'task' ? task(body) : commandTexts(body)));
    case 'flow':
    case 'expand':
      return phase.source.from === 'generated' ? [phase.source.def] : [];
  }
}

/** A shell line has no placeholders at all; an argv may have them. */
function commandTexts(body: {
  run: string | readonly string[];
  input?: string;
  env: Readonly<Record<string, string>>;
}): readonly string[] {
  if (typeof body.run === 'string') expect(templateRefs(parseTemplate(body.run))).toEqual([]);
  const run = typeof body.run === 'string' ? [] : body.run;
  return [...run, body.input ?? '', ...Object.values(body.env)];
}

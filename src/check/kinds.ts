import type { Branch, Expiry, Phase, RunBody, TaskBody, UseBody } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import type { Kind } from '../model/kind.js';
import { isForbiddenName } from '../model/names.js';
import { ROOT_NAMES } from '../plan/placeholder.js';
import { agentFields, projectPath, runBody, taskBody } from './bodies.js';
import { forbiddenName } from './forbidden.js';
import { AGENT_ONLY, noEffect, RUN_ONLY, warnIdle } from './idle-fields.js';
import { checkSource, checkUse } from './nested.js';
import type { PhaseReader } from './phase-reader.js';
import { checkScore } from './score.js';

/** The kind's own part of a checked phase. */
type OwnPart<K extends Kind> = Omit<Extract<Phase, { kind: K }>, keyof import('../model/flow.js').PhaseBase> & {
  kind: K;
};

type Builders = { readonly [K in Kind]: (reader: PhaseReader) => OwnPart<K> };

/** One entry per kind: reads the kind's own fields, reports their problems, and makes the checked part. */
export const KIND_BUILDERS: Builders = {
  agent: (reader) => ({ kind: 'agent', body: taskBody(reader) }),

  script: (reader) => {
    if (reader.context.trust === 'generated') {
      reader.problems.error(reader.path('type'), 'generated-flow', 'a generated flow may not have script phases');
    }
    return { kind: 'script', body: runBody(reader, reader.source.path, { own: reader.source.raw }) };
  },

  parallel: (reader) => ({ kind: 'parallel', branches: branches(reader, 1) }),

  map: (reader) => {
    const { raw } = reader.source;
    const over = raw['over'] as string | readonly JsonValue[] | undefined;
    checkAlias(reader);
    if (over !== undefined) reader.deep(reader.path('over'), over);
    if (typeof over === 'string' && !over.includes('{') && !isWrittenList(over)) {
      reader.problems.error(reader.path('over'), 'bad-value', {
        message: '"over" has to be a list or a placeholder of one',
        hint: 'for example: "{steps.scan.json}"',
      });
    }
    if (reader.context.trust === 'generated' && Array.isArray(over) && over.length > 200) {
      reader.problems.error(reader.path('over'), 'generated-flow', 'a generated flow may map over at most 200 items');
    }
    return { kind: 'map', over: over ?? [], as: reader.itemName, body: mapBody(reader) };
  },

  reduce: (reader) => {
    const { raw } = reader.source;
    const from = (raw['from'] ?? []) as readonly string[];
    if (from.length === 0 && (raw['from'] !== undefined || !reader.source.written.has('from'))) {
      reader.problems.error(reader.source.path, 'missing-field', {
        message: `the reduce phase "${reader.source.id}" needs "from"`,
        hint: 'for example: from: ["review-each"]',
      });
    }
    const strategy = (raw['reduceStrategy'] ?? 'one-shot') as 'one-shot' | 'tree';
    if (raw['batchSize'] !== undefined && strategy !== 'tree')
      noEffect(reader, 'batchSize', 'without reduceStrategy: tree');
    return { kind: 'reduce', from, body: taskBody(reader), strategy, batchSize: (raw['batchSize'] ?? 10) as number };
  },

  gate: (reader) => {
    const { raw } = reader.source;
    const conditions = (raw['eval'] ?? []) as readonly string[];
    for (const [index, condition] of conditions.entries()) reader.condition(reader.path('eval', index), condition);
    const hasTask = typeof raw['task'] === 'string';
    if (['task', 'eval', 'score'].every((field) => !reader.source.written.has(field))) {
      reader.problems.error(reader.source.path, 'missing-field', {
        message: `the gate "${reader.source.id}" has nothing to decide by`,
        hint: 'give it "eval", "score" or "task"',
      });
    }
    const body = hasTask ? taskBody(reader) : undefined;
    if (!hasTask) agentFields(reader, reader.source.path, { own: raw });
    return {
      kind: 'gate',
      eval: conditions,
      ...(body ? { body } : {}),
      ...(raw['score'] === undefined ? {} : { score: checkScore(reader) }),
      onBlock: (raw['onBlock'] ?? 'halt') as 'halt' | 'retry',
    };
  },

  approval: (reader) => {
    const { raw, id, written } = reader.source;
    const fallback = typeof raw['description'] === 'string' ? raw['description'] : `Approve "${id}"?`;
    const task = typeof raw['task'] === 'string' ? reader.template(reader.path('task'), raw['task']) : fallback;
    const onExpire = raw['onExpire'] as Expiry | undefined;
    if (onExpire !== undefined && !written.has('timeout') && !written.has('timeoutMs')) {
      noEffect(reader, 'onExpire', 'without "timeout"');
    }
    return { kind: 'approval', task, ...(onExpire && { onExpire }) };
  },

  flow: (reader) => {
    const given = withValues(reader);
    return { kind: 'flow', source: checkSource(reader, given), with: given };
  },

  loop: (reader) => {
    const { raw } = reader.source;
    const scope = { loop: true };
    const until = raw['until'];
    if (typeof until === 'string') reader.condition(reader.path('until'), until, scope);
    return {
      kind: 'loop',
      body: taskBody(reader, scope),
      ...(typeof until === 'string' ? { until } : {}),
      maxIterations: (raw['maxIterations'] ?? 10) as number,
      convergence: (raw['convergence'] ?? true) as boolean,
      reflexion: (raw['reflexion'] ?? false) as boolean,
    };
  },

  tournament: (reader) => {
    const { raw, path, id, written } = reader.source;
    const hasBranches = raw['branches'] !== undefined;
    const hasTask = typeof raw['task'] === 'string';
    if (!written.has('task') && !written.has('branches')) {
      reader.problems.error(path, 'missing-field', `the tournament "${id}" needs "task" or "branches"`);
    }
    if (hasBranches && raw['variants'] !== undefined) noEffect(reader, 'variants', 'beside "branches"');
    if (hasBranches && hasTask) noEffect(reader, 'task', 'beside "branches"');
    const judge = raw['judge'];
    const judgeAgent = raw['judgeAgent'];
    if (typeof judge === 'string') reader.template(reader.path('judge'), judge);
    if (typeof judgeAgent === 'string') reader.agent(reader.path('judgeAgent'), judgeAgent, raw['model']);
    const fields = agentFields(reader, path, { own: raw });
    return {
      kind: 'tournament',
      ...(hasTask && !hasBranches ? { body: taskBody(reader) } : {}),
      variants: (raw['variants'] ?? 3) as number,
      branches: hasBranches ? branches(reader, 2) : [],
      ...(typeof judge === 'string' ? { judge } : {}),
      judgeBody: {
        type: 'task',
        task: typeof judge === 'string' ? judge : '',
        ...fields,
        ...(typeof judgeAgent === 'string' ? { agent: judgeAgent } : {}),
      },
      mode: (raw['mode'] ?? 'best') as 'best' | 'aggregate',
    };
  },

  race: (reader) => ({
    kind: 'race',
    branches: branches(reader, 2),
    cancelLosers: (reader.source.raw['cancelLosers'] ?? true) as boolean,
  }),

  expand: (reader) => {
    const { raw } = reader.source;
    const given = withValues(reader);
    return {
      kind: 'expand',
      source: checkSource(reader, given),
      ...(raw['with'] === undefined ? {} : { with: given }),
      mode: (raw['expandMode'] ?? 'nested') as 'nested' | 'graft',
      maxNodes: (raw['maxNodes'] ?? 50) as number,
    };
  },
};

function withValues(reader: PhaseReader, item = false): Readonly<Record<string, JsonValue>> {
  const given = (reader.source.raw['with'] ?? {}) as Readonly<Record<string, JsonValue>>;
  return reader.deep(reader.path('with'), given, { item });
}

/** A list as JSON text, or one item per line. */
function isWrittenList(text: string): boolean {
  return text.trim().includes('\n') || /^\s*\[[\s\S]*\]\s*$/.test(text);
}

/** The further name of a map's item has to be one that nothing else has. */
function checkAlias(reader: PhaseReader): void {
  const alias = reader.source.raw['as'];
  const { problems } = reader.context;
  if (isForbiddenName(alias)) forbiddenName(reader.path('as'), alias, problems);
  else if (typeof alias === 'string' && ROOT_NAMES.includes(alias)) {
    problems.error(reader.path('as'), 'bad-value', {
      message: `"as" cannot be "${alias}": {${alias}…} means something already`,
      hint: 'take a name of its own, such as as: file; {item} works in any case',
    });
  }
}

function mapBody(reader: PhaseReader): TaskBody | RunBody | UseBody {
  const { raw, path, id, written } = reader.source;
  const scope = { item: true };
  const bodies = ['task', 'run', 'use'].filter((name) => written.has(name));
  const hint = 'a map has one of "task", "run" and "use"';
  if (bodies.length === 0) {
    reader.problems.error(path, 'missing-field', { message: `the map "${id}" needs a body`, hint });
  }
  for (const body of bodies.slice(1)) {
    const message = `the map "${id}" has "${bodies[0]}" already`;
    reader.problems.error(reader.path(body), 'bad-value', { message, target: 'key', hint });
  }
  const isRun = raw['run'] !== undefined;
  const isUse = raw['use'] !== undefined;
  if (!written.has('run')) warnIdle(reader, RUN_ONLY, { path, holder: raw, why: 'without "run"' });
  if (!isUse && raw['with'] !== undefined) noEffect(reader, 'with', 'without "use"');
  if (isUse) {
    const use = reader.template(reader.path('use'), raw['use'] as string, scope);
    const given = withValues(reader, true);
    checkUse(reader, use, given);
    return { type: 'use', use, with: given };
  }
  return isRun ? runBody(reader, path, { own: raw, scope }) : taskBody(reader, scope);
}

function branches(reader: PhaseReader, atLeast: number): readonly Branch[] {
  const { raw, path, id, kind } = reader.source;
  const written = (raw['branches'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  agentFields(reader, path, { own: raw });
  const { problems } = reader.context;
  if (raw['branches'] !== undefined && written.length < atLeast) {
    problems.error(reader.path('branches'), 'out-of-range', `the ${kind} "${id}" needs at least ${atLeast} branches`);
  }
  const seen = new Set<string>();
  return written.map((branch, index) => {
    const at = reader.path('branches', index);
    const branchId = typeof branch['id'] === 'string' ? branch['id'] : `branch-${index + 1}`;
    if (seen.has(branchId)) problems.error([...at, 'id'], 'duplicate-id', `the branch "${branchId}" is there twice`);
    seen.add(branchId);
    const hasTask = branch['task'] !== undefined;
    if (hasTask === (branch['run'] !== undefined)) {
      const message = hasTask ? 'a branch has "task" or "run", not both' : 'a branch needs "task" or "run"';
      problems.error(at, 'missing-field', message);
    } else if (hasTask) warnIdle(reader, RUN_ONLY, { path: at, holder: branch, why: 'without "run"' });
    else warnIdle(reader, AGENT_ONLY, { path: at, holder: branch, why: 'where no agent is called' });
    const cwd = branch['cwd'];
    if (typeof cwd === 'string') projectPath(reader, [...at, 'cwd'], { written: cwd });
    const task = typeof branch['task'] === 'string' ? reader.template([...at, 'task'], branch['task']) : '';
    const body: TaskBody | RunBody = hasTask
      ? { type: 'task', task, ...agentFields(reader, at, { own: branch, phase: raw }) }
      : runBody(reader, at, { own: branch });
    return { id: branchId, body, ...(typeof cwd === 'string' ? { cwd } : {}) };
  });
}

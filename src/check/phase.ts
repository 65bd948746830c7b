import type { CachePolicy, Edge, Phase, PhaseBase, Retry } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import { isCwdWord } from '../model/names.js';
import type { RawCache, RawRetry } from '../model/schema/common.js';
import type { Path } from '../parse/locate.js';
import { parseDuration } from '../util/duration.js';
import { projectPath, taskBody } from './bodies.js';
import { checkDuration } from './durations.js';
import { graftedName } from './grafts.js';
import { checkContract, checkIdleFields, noEffect } from './idle-fields.js';
import { checkJsonSchema } from './json-schema.js';
import { KIND_BUILDERS } from './kinds.js';
import { leavesProject } from './paths.js';
import type { PhaseReader, TextScope } from './phase-reader.js';
import { cachePolicy } from './policy.js';
import { show } from './structure.js';

export interface PhaseDefaults {
  readonly retry?: RawRetry;
  readonly timeout?: string | number;
  readonly cache?: RawCache;
  readonly cwd?: string;
  readonly incremental: boolean;
  /** Their path in the file. */
  readonly path: Path;
}

/** A phase of unknown kind may be meant as a map or a loop. */
const NO_NEEDS: readonly Edge[] = [];
const NO_POLICY: CachePolicy = { scope: 'run-only', fingerprint: [], named: false, implied: false };

type Base = { -readonly [F in keyof PhaseBase]: PhaseBase[F] };
type Draft = Phase & { needs: readonly Edge[]; cache: CachePolicy };

/** The checked phase, after reporting all its problems. */
export function checkPhase(
  reader: PhaseReader,
  defaults: PhaseDefaults,
  place?: Pick<PhaseBase, 'line' | 'column'>,
): Phase {
  const { raw, kind, unknownKind } = reader.source;
  // Filled in place, because copies would take much of the time of a check.
  const base = basePart(reader, defaults);
  const own = unknownKind ? { body: taskBody(reader, reader.ownScope) } : KIND_BUILDERS[kind](reader);
  const phase = Object.assign(base, own, place) as Draft;
  phase.cache = cachePolicy(reader, phase, defaults);
  phase.needs = edges(reader);
  reader.finish(phase.needs.length > 0);
  checkCombinations(reader, phase);
  if (!unknownKind) {
    checkIdleFields(reader, phase);
    checkContract(reader, phase);
  }
  if (raw['cache'] !== undefined) checkDeclaredInput(reader, phase);
  return phase;
}

/** All fields except `needs` and `cache`, which depend on the others. */
function basePart(reader: PhaseReader, defaults: PhaseDefaults): Base {
  const { raw, id, kind } = reader.source;
  const scope = reader.ownScope;
  if (typeof raw['when'] === 'string') reader.condition(reader.path('when'), raw['when']);
  const cwd = workingFolder(reader, defaults, scope);
  const context = (raw['context'] ?? []) as readonly string[];
  for (const [index, entry] of context.entries()) {
    projectPath(reader, reader.path('context', index), { written: entry, scope });
  }
  const outputs = (raw['outputs'] ?? []) as readonly string[];
  for (const [index, glob] of outputs.entries()) checkOutput(reader, index, glob);
  if (raw['expect'] !== undefined) checkJsonSchema(raw['expect'], reader.path('expect'), reader.problems);
  const retry = (raw['retry'] ?? defaults.retry) as RawRetry | undefined;
  const timeoutMs = timeLimit(reader, defaults);
  const idleTimeoutMs = idleLimit(reader);
  const base: Base = {
    id,
    kind,
    join: (raw['join'] ?? 'all') as 'all' | 'any',
    optional: (raw['optional'] ?? false) as boolean,
    final: (raw['final'] ?? false) as boolean,
    idempotent: (raw['idempotent'] ?? true) as boolean,
    output: (raw['output'] ?? 'text') as 'text' | 'json',
    context,
    contextLimit: (raw['contextLimit'] ?? 8000) as number,
    outputs,
    needs: NO_NEEDS,
    cache: NO_POLICY,
  };
  if (raw['description'] !== undefined) base.description = raw['description'] as string;
  if (raw['when'] !== undefined) base.when = raw['when'] as string;
  if (retry !== undefined) base.retry = checkedRetry(retry);
  if (timeoutMs !== undefined) base.timeoutMs = timeoutMs;
  if (idleTimeoutMs !== undefined) base.idleTimeoutMs = idleTimeoutMs;
  if (raw['expect'] !== undefined) base.expect = raw['expect'] as JsonObject;
  if (cwd !== undefined) base.cwd = cwd;
  if (raw['concurrency'] !== undefined) base.concurrency = raw['concurrency'] as number;
  return base;
}

function checkedRetry({ max, backoffMs = 1000, factor = 2 }: RawRetry): Retry {
  return { max, backoffMs, factor };
}

function duration(reader: PhaseReader, field: string, fallback?: string | number): number | undefined {
  const own = reader.source.raw[field] as string | number | undefined;
  if (own !== undefined) return checkDuration(own, { path: reader.path(field), problems: reader.problems });
  return fallback === undefined ? undefined : parseDuration(fallback);
}

/** An approval may call it `timeoutMs`. The default for phases does not limit a person. */
function timeLimit(reader: PhaseReader, defaults: PhaseDefaults): number | undefined {
  const { raw, kind } = reader.source;
  if (kind !== 'approval') return duration(reader, 'timeout', defaults.timeout);
  const [timeout, timeoutMs] = [duration(reader, 'timeout'), duration(reader, 'timeoutMs')];
  if (raw['timeout'] !== undefined && raw['timeoutMs'] !== undefined) noEffect(reader, 'timeoutMs', 'beside "timeout"');
  return timeout ?? timeoutMs;
}

/** 0: no limit for silence. */
function idleLimit(reader: PhaseReader): number | undefined {
  const own = reader.source.raw['idleTimeout'] as string | number | undefined;
  if (own === undefined) return undefined;
  return checkDuration(own, { path: reader.path('idleTimeout'), problems: reader.problems, mayBeZero: true });
}

function workingFolder(reader: PhaseReader, defaults: PhaseDefaults, scope: TextScope): string | undefined {
  const own = reader.source.raw['cwd'] as string | undefined;
  if (own === undefined) {
    if (defaults.cwd !== undefined) reader.inherited([...defaults.path, 'cwd'], defaults.cwd);
    return defaults.cwd;
  }
  if (!isCwdWord(own)) projectPath(reader, reader.path('cwd'), { written: own, scope });
  return own;
}

function checkOutput(reader: PhaseReader, index: number, glob: string): void {
  const path = reader.path('outputs', index);
  reader.literal(path, glob, reader.ownScope);
  if (leavesProject(glob) || glob.includes('\0')) {
    reader.problems.error(path, 'outside-project', 'this pattern leads out of the project');
  }
}

/** `dependsOn`, then `from`, then what is mentioned; each once. */
function edges(reader: PhaseReader): readonly Edge[] {
  const { raw, id, kind } = reader.source;
  const { phases, problems } = reader.context;
  const ids = new Set<string>();
  for (const field of ['dependsOn', 'from'] as const) {
    const needs = raw[field] as readonly string[] | undefined;
    needs?.forEach((need, index) => {
      const graft = phases.has(need) ? undefined : graftedName(need, phases);
      if (graft && graft.grows !== id && graft.known?.includes(need) !== false) {
        ids.add(graft.grows);
      } else if (!phases.has(need)) {
        problems.error(reader.path(field, index), 'unknown-step', {
          message: `there is no phase ${show(need)}`,
          suggest: { name: need, known: phases.keys() },
        });
      } else if (need === id) {
        problems.error(reader.path(field, index), 'self-reference', `"${id}" cannot wait for itself`);
      } else {
        ids.add(need);
        if (field === 'from' && kind === 'reduce') reader.quoted.add(need);
      }
    });
  }
  for (const need of reader.mentioned) ids.add(need);
  return [...ids].map((need) => ({ id: need, referenced: reader.usesPrevious || reader.quoted.has(need) }));
}

function checkCombinations(reader: PhaseReader, phase: Phase): void {
  const { problems } = reader.context;
  const folders = [phase.cwd, ...('branches' in phase ? phase.branches.map(({ cwd }) => cwd) : [])];
  const fleeting = folders.find((cwd) => cwd === 'temp' || cwd === 'worktree');
  if (phase.outputs.length > 0 && fleeting) {
    problems.error(reader.path('outputs'), 'outputs-cwd', {
      message: `"outputs" cannot be restored with cwd: ${fleeting}`,
      target: 'key',
      hint: 'use cwd: dedicated, or a folder of the project',
    });
  }
  if (phase.kind === 'gate' && phase.onBlock === 'retry' && phase.needs.length === 0) {
    noEffect(reader, 'onBlock', 'on a gate that depends on no other phase');
  }
}

/** A script that is reused across runs whatever changes around it is most likely a mistake. */
function checkDeclaredInput(reader: PhaseReader, phase: Phase): void {
  const declared = (reader.source.raw['cache'] as RawCache).fingerprint;
  if (phase.kind !== 'script' || phase.cache.scope !== 'cross-run' || declared !== undefined) return;
  if (phase.needs.length > 0 || reader.usesPlaceholders || phase.body.input !== undefined) return;
  reader.problems.warn(reader.path('cache'), 'no-declared-input', {
    message: `"${phase.id}" declares no input; where its reads are not observed, it never runs again`,
    target: 'key',
    hint: 'name what it reads in "fingerprint" ("glob:src/**"), or say fingerprint: []',
  });
}

import type { AgentDefaults, AgentScope, ArgSpec, Budget, Flow, Phase } from '../model/flow.js';
import type { Hooks } from '../model/hooks.js';
import { isJsonObject } from '../model/json.js';
import { isCwdWord, isForbiddenName } from '../model/names.js';
import { Arg, type RawArg, type RawCache, type RawRetry } from '../model/schema/common.js';
import { FLOW_FIELDS, IGNORED_FLOW_FIELDS, MOST_PHASES, Step } from '../model/schema/flow.js';
import type { Path } from '../parse/locate.js';
import { findCycles } from '../plan/graph.js';
import { parseDuration } from '../util/duration.js';
import { checkArgSpecs, UNDECLARED } from './arg-specs.js';
import { projectPath, refuseGenerated } from './bodies.js';
import type { CheckContext, PhaseSource, SharedContext, Standing } from './context.js';
import { checkDuration } from './durations.js';
import { checkFingerprint } from './fingerprints.js';
import { forbiddenName } from './forbidden.js';
import { readHooks } from './hooks.js';
import { checkPhase, type PhaseDefaults } from './phase.js';
import { PhaseReader } from './phase-reader.js';
import { expanded, readPhases } from './phases.js';
import { checkObserve } from './policy.js';
import type { Problems } from './problem.js';
import { salvage } from './salvage.js';
import { writtenPhases } from './shorthand.js';
import { checkStructure, show } from './structure.js';
import { suggestField, synonymOf } from './synonyms.js';

type Fields = Readonly<Record<string, unknown>>;

interface FlowOptions extends SharedContext, Standing {
  /** Name when the flow has none. */
  readonly name: string;
  readonly file?: string;
  /** Path of the flow inside its file. */
  readonly path?: Path;
  /** Counts the phases of a flow and of all flows that are written inside it. */
  readonly tally?: { phases: number };
  /** A flow around this one bounds what is spent. */
  readonly outerBudget?: boolean;
  /** Phases of the flows around this one. */
  readonly outer?: ReadonlySet<string>;
  /** Line and column of each phase in the file, where they are cheap to know. */
  readonly position?: (index: number) => { readonly line: number; readonly column: number } | undefined;
}

/** Written flows inside flows; generated ones have a tighter bound. */
const DEEPEST_FLOWS = 20;
const DEEPEST_GENERATED = 5;
const MOST_GENERATED_PHASES = 100;

/** The checked flow, which the caller must not use if `problems` has errors. */
export function checkFlowValue(value: unknown, options: FlowOptions): Flow | undefined {
  const { problems, path = [], trust, depth = 0 } = options;
  const bareList = Array.isArray(value) && (path.length > 0 || trust === 'generated');
  const flow: unknown = bareList ? { phases: value } : value;
  if (typeof flow !== 'object' || flow === null || Array.isArray(flow)) {
    problems.error(path, 'wrong-type', {
      message: flow === null ? 'there is no flow here' : 'a flow has to be an object',
      hint: 'it needs at least "phases"',
    });
    return undefined;
  }
  if (depth > (trust === 'generated' ? DEEPEST_GENERATED : DEEPEST_FLOWS)) {
    problems.error(path, trust === 'generated' ? 'generated-flow' : 'too-deep', 'flows are nested too deep here');
    return undefined;
  }
  const good = readFlowFields(flow as Fields, path, problems);
  if (path.length > 0) warnOfRunWide(good, path, problems);
  const written = writtenPhases(good, { path, problems, bareList });
  const tally = options.tally ?? { phases: 0 };
  tally.phases += written.length;
  const bound = trust === 'generated' ? MOST_GENERATED_PHASES : MOST_PHASES;
  const most = Math.min(options.mostPhases ?? bound, bound);
  if (written.length > most || tally.phases > bound) {
    const code = trust === 'generated' ? 'generated-flow' : 'out-of-range';
    const message =
      written.length > most
        ? `there are ${written.length} phases, and ${most} are allowed here`
        : `there are ${tally.phases} phases with those of the flows inside, and ${bound} are allowed`;
    problems.error([...path, 'phases'], code, { message, target: 'key' });
    return undefined;
  }
  return assemble(good, readPhases(written, problems), { ...options, tally });
}

/** Fields around the phases; wrong ones are reported and left out. */
function readFlowFields(flow: Fields, path: Path, problems: Problems): Fields {
  const good: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(flow)) {
    const at = [...path, name];
    if (!Object.hasOwn(FLOW_FIELDS, name)) {
      problems.error(at, 'unknown-field', {
        message: `a flow has no field ${show(name)}`,
        target: 'key',
        ...suggestField(name, Object.keys(FLOW_FIELDS)),
      });
      // The phases are under another name, so do not also report that they are missing.
      const meant = synonymOf(name, ['phases', 'task', 'tasks']);
      if (meant !== undefined && flow[meant] === undefined) good['phases'] ??= [];
    } else if (Object.hasOwn(IGNORED_FLOW_FIELDS, name)) {
      problems.noEffect(at, `"${name}" is accepted but does nothing here`);
    } else if (name === 'hooks' && isJsonObject(value as never)) {
      good[name] = readHooks(value as Fields, at, problems);
    } else if (name === 'name' && isForbiddenName(value)) {
      forbiddenName(at, value, problems);
    } else if (name === 'phases' && Array.isArray(value) && value.length > 0) {
      good[name] = value;
    } else if (name === 'args' && isJsonObject(value)) {
      good[name] = readArgs(value, at, problems);
    } else if ((name === 'tasks' || name === 'chain') && Array.isArray(value) && value.length > 0) {
      good[name] = value.map((step, index) =>
        checkStructure(step, Step, { path: [...at, index], problems }) ? step : 'x',
      );
    } else if (checkStructure(value, FLOW_FIELDS[name as keyof typeof FLOW_FIELDS], { path: at, problems })) {
      good[name] = value;
    } else if (name === 'phases' || name === 'task' || name === 'tasks' || name === 'chain') {
      // A wrong field is reported as wrong, not as missing.
      good[name] = [];
    } else if (name === 'defaults') {
      good[name] = salvage(value, FLOW_FIELDS.defaults, { path: at, problems }) ?? {};
    }
  }
  return good;
}

/** A flow inside another one is part of its run, which has one budget and one bound for everything in it. */
function warnOfRunWide(flow: Fields, path: Path, problems: Problems): void {
  for (const name of ['budget', 'concurrency', 'hooks']) {
    if (flow[name] === undefined) continue;
    const message = `"${name}" means nothing in a flow inside another one`;
    problems.noEffect([...path, name], message, 'the outermost flow decides about the whole run');
  }
}

/** Reads arguments one by one, so that a mistake in one does not make the others unknown. */
function readArgs(args: Fields, path: Path, problems: Problems): Fields {
  const good = Object.entries(args).map(([name, arg]) => {
    const at = [...path, name];
    if (isJsonObject(arg as never)) return [name, checkStructure(arg, Arg, { path: at, problems }) ? arg : {}];
    const message = `the argument ${show(name)} has to be an object`;
    problems.error(at, 'wrong-type', { message, hint: `write ${name}: ${asArgument(arg)}` });
    return [name, {}];
  });
  return Object.fromEntries(good);
}

const ARG_TYPES: readonly unknown[] = ['string', 'number', 'boolean', 'path', 'json'];

/** `main` is meant as the default, `string` as the type. */
function asArgument(written: unknown): string {
  if (written === null) return '{}';
  if (ARG_TYPES.includes(written)) return `{ type: ${written} }`;
  const plain = typeof written === 'string' && /^[A-Za-z][\w./-]*$/.test(written) ? written : JSON.stringify(written);
  return `{ default: ${plain.length > 60 ? '…' : plain} }`;
}

function assemble(raw: Fields, sources: readonly PhaseSource[], options: FlowOptions): Flow {
  const { problems, path = [], world } = options;
  const name = typeof raw['name'] === 'string' ? raw['name'] : options.name;
  const args = checkArgSpecs((raw['args'] ?? {}) as Record<string, RawArg>, [...path, 'args'], {
    root: world.root,
    problems,
  });
  const context = contextOf(raw, options, { sources, flowName: name, args });
  const defaults = readDefaults(raw, path, context);
  const phases = sources.map((source, index) =>
    checkPhase(new PhaseReader(context, source), defaults, options.position?.(index)),
  );
  for (const name of [...context.mentionedArgs, ...Object.keys(options.given ?? {})]) {
    if (!Object.hasOwn(args, name)) args[name] = UNDECLARED;
  }
  const result = checkGraph(phases, sources, problems);
  const budget = raw['budget'] as Budget | undefined;
  return {
    name,
    ...pickTexts(raw, ['description']),
    ...agentDefaults(raw, options.inherited),
    file: options.file,
    args,
    concurrency: raw['concurrency'] as number | undefined,
    budget,
    hooks: raw['hooks'] as Hooks | undefined,
    agentScope: context.agentScope,
    idleTimeoutMs: parseDuration((raw['idleTimeout'] ?? '5m') as string) ?? 300_000,
    incremental: (raw['incremental'] ?? false) as boolean,
    strictInterpolation: context.strict,
    phases,
    result,
  };
}

interface ReadFlow {
  readonly sources: readonly PhaseSource[];
  readonly flowName: string;
  readonly args: Readonly<Record<string, ArgSpec>>;
}

function contextOf(raw: Fields, options: FlowOptions, { sources, flowName, args }: ReadFlow): CheckContext {
  const { problems, world, used, runners, roles, files, trust, depth = 0 } = options;
  const at = (field: string) => [...(options.path ?? []), field];
  if (trust === 'generated' && raw['hooks'] !== undefined) refuseGenerated(problems, at('hooks'), 'have hooks');
  if (trust === 'generated' && raw['runner'] !== undefined) refuseGenerated(problems, at('runner'), 'choose a runner');
  else if (typeof raw['runner'] === 'string') runners.name(at('runner'), raw['runner']);
  roles.name(at('model'), raw['model']);
  const hasBudget = raw['budget'] !== undefined || (options.outerBudget ?? false);
  const agentScope = (raw['agentScope'] ?? options.agentScope ?? 'both') as AgentScope;
  /** Made on demand, for the first flow that is written inside this one. */
  let inside: ReadonlySet<string> | undefined;
  return {
    ...{ problems, world, used, runners, roles, files, trust },
    agentScope,
    strict: (raw['strictInterpolation'] ?? false) as boolean,
    hasBudget,
    args: new Set([...Object.keys(args), ...Object.keys(options.given ?? {}), ...(options.around?.args ?? [])]),
    argSpecs: args,
    mentionedArgs: new Set(),
    phases: new Map(sources.map((source) => [source.id, source])),
    outputs: sources.flatMap(({ raw: { outputs } }) => outputs ?? []).filter((output) => typeof output === 'string'),
    itemNames: new Map(sources.flatMap(({ id, raw: { as } }) => (typeof as === 'string' ? [[as, id] as const] : []))),
    outer: options.outer ?? new Set(),
    around: options.around,
    checkInline: (def, path, { phase, given, mostPhases, around }) => {
      inside ??= new Set([...(options.outer ?? []), ...sources.map(({ id }) => id)]);
      return checkFlowValue(def, {
        ...options,
        file: undefined,
        position: undefined,
        name: `${flowName}.${phase}`,
        path,
        depth: depth + 1,
        given,
        mostPhases,
        around,
        agentScope,
        inherited: agentDefaults(raw, options.inherited),
        outerBudget: hasBudget,
        outer: inside,
      });
    },
  };
}

function readDefaults(raw: Fields, path: Path, context: CheckContext): PhaseDefaults {
  const written = (raw['defaults'] ?? {}) as Fields;
  const defaults = { ...written, ...('cache' in written && { cache: expanded('cache', written['cache']) }) } as {
    retry?: RawRetry;
    timeout?: string | number;
    cache?: RawCache;
    cwd?: string;
  };
  const reader = new PhaseReader(context, {
    id: '',
    kind: 'agent',
    path: [...path, 'defaults'],
    raw: defaults,
    written: new Set(),
  });
  if (defaults.cwd !== undefined && !isCwdWord(defaults.cwd)) {
    projectPath(reader, reader.path('cwd'), { written: defaults.cwd });
  }
  for (const [index, entry] of (defaults.cache?.fingerprint ?? []).entries()) {
    checkFingerprint(reader, reader.path('cache', 'fingerprint', index), { entry, scope: {} });
  }
  if (defaults.cache?.observe) checkObserve(reader, reader.path('cache', 'observe'), defaults.cache.observe);
  const idle = raw['idleTimeout'] as string | number | undefined;
  if (idle !== undefined) {
    checkDuration(idle, { path: [...path, 'idleTimeout'], problems: context.problems, mayBeZero: true });
  }
  for (const [at, value] of [
    [reader.path('timeout'), defaults.timeout],
    [reader.path('cache', 'ttl'), defaults.cache?.ttl],
  ] as const) {
    if (value !== undefined) checkDuration(value, { path: at, problems: context.problems });
  }
  return { ...defaults, incremental: (raw['incremental'] ?? false) as boolean, path: reader.source.path };
}

/** Id of the phase whose output is the result. */
function checkGraph(phases: readonly Phase[], sources: readonly PhaseSource[], problems: Problems): string {
  const byId = new Map(sources.toReversed().map((source) => [source.id, source]));
  // Of phases with the same id, which is already reported, only the first is in the graph.
  const unique = phases.filter(({ id }, index) => sources[index] === byId.get(id));
  for (const cycle of findCycles(unique)) {
    const { path } = byId.get(cycle[0]!)!;
    problems.error([...path, 'id'], 'cycle', `these phases wait for each other: ${cycle.join(' → ')}`);
  }
  const finals = phases.flatMap((phase, index) => (phase.final ? [index] : []));
  for (const index of finals.slice(1)) {
    const first = phases[finals[0]!]!.id;
    problems.error([...sources[index]!.path, 'final'], 'several-finals', {
      message: `"${first}" is final already`,
      target: 'key',
    });
  }
  return (phases[finals[0] ?? phases.length - 1] ?? phases.at(-1))?.id ?? '';
}

function agentDefaults(raw: Fields, inherited: AgentDefaults | undefined): AgentDefaults {
  const names = ['runner', 'model', 'thinking'];
  return { ...(inherited && pickTexts(inherited as Fields, names)), ...pickTexts(raw, names) };
}

function pickTexts(raw: Fields, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) if (typeof raw[name] === 'string') picked[name] = raw[name];
  return picked;
}

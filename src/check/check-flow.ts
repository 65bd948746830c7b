import { isAbsolute, resolve } from 'node:path';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Flow } from '../model/flow.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { FLOW_NAME_PATTERN, isForbiddenName, MAX_NAME_LENGTH } from '../model/names.js';
import { decodeText } from '../parse/decode.js';
import type { Readable } from '../parse/json.js';
import { parseText } from '../parse/parse.js';
import { Source } from '../parse/source.js';
import { displayPath } from '../util/inside.js';
import type { Standing, UsedFlow } from './context.js';
import type { Dependency } from './dependencies.js';
import { checkFlowValue } from './flow.js';
import { withoutForbidden } from './forbidden.js';
import { NamedRoles } from './model-roles.js';
import { NamedFiles } from './named-files.js';
import { inFileOrder, Problems, syntaxDiagnostics, toDiagnostics } from './problem.js';
import { NamedRunners } from './runners.js';
import { LoadedFlows, loadUsedFlows } from './used-flows.js';
import type { CheckWorld } from './world.js';

interface CheckRequest extends Standing {
  /**
   * The path for messages: relative to the project root, or absolute outside it. Its extension decides between YAML and
   * JSON.
   */
  readonly file: string;
  readonly text: string | Buffer;
  readonly world: CheckWorld;
  readonly trust?: 'file' | 'generated';
  /** The name for a flow without one, instead of the file's. */
  readonly name?: string;
  readonly overrides?: FlowOverrides;
}

/** Settings of the command line that override the flow's. */
export interface FlowOverrides {
  readonly incremental?: true;
  /** `defaults.retry.max`, where the flow has none. */
  readonly retries?: number;
}

interface CheckResult {
  /** Only without errors. */
  readonly flow?: Flow;
  readonly diagnostics: readonly Diagnostic[];
  readonly dependencies: readonly Dependency[];
  /** The text that the diagnostics point into. */
  readonly source: string;
}

/** Checks a flow file's text: the flow, or all its problems. Starts no process and never throws. */
export async function checkFlowText(request: CheckRequest): Promise<CheckResult> {
  const start = isAbsolute(request.file) ? request.file : resolve(request.world.root, request.file);
  return check(request, new LoadedFlows(), [start]);
}

async function check(request: CheckRequest, loaded: LoadedFlows, trail: readonly string[]): Promise<CheckResult> {
  const { file, world } = request;
  const decoded = decodeText(typeof request.text === 'string' ? Buffer.from(request.text, 'utf8') : request.text);
  const source = decoded.text;
  if (decoded.problem) {
    const diagnostics = syntaxDiagnostics([decoded.problem], file, source);
    return { diagnostics, dependencies: world.dependencies, source };
  }
  const parsed = await parseText(file, source);
  const blemishes = 'problems' in parsed ? syntaxDiagnostics(parsed.problems, file, source) : [];
  const readable = 'problems' in parsed ? parsed.readable : parsed;
  if (!readable) return { diagnostics: blemishes, dependencies: world.dependencies, source };
  const problems = new Problems();
  const flow = await checkReadable(readable, request, { source, problems, loaded, trail });
  const found = problems.list;
  const others =
    found.length === 0 ? [] : await toDiagnostics(found, { file, text: source, tree: await readable.tree() });
  const diagnostics = saidOnce(blemishes.length === 0 ? others : inFileOrder([...blemishes, ...others]));
  const good = flow && blemishes.length === 0 && !problems.hasErrors;
  return { ...(good ? { flow } : {}), diagnostics, dependencies: world.dependencies, source };
}

/** The check replaces a bad number by another one: drops the problems that it reports about the replacement. */
function saidOnce(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const place = ({ line, column }: Diagnostic) => `${line}:${column}`;
  const bad = new Set(diagnostics.filter(({ code }) => code === 'bad-number').map(place));
  if (bad.size === 0) return diagnostics;
  return diagnostics.filter((diagnostic) => diagnostic.code === 'bad-number' || !bad.has(place(diagnostic)));
}

interface Checking {
  readonly source: string;
  readonly problems: Problems;
  readonly loaded: LoadedFlows;
  readonly trail: readonly string[];
}

async function checkReadable(
  parsed: Readable,
  request: CheckRequest,
  { source, problems, loaded, trail }: Checking,
): Promise<Flow | undefined> {
  const { file, text: _text, world, trust = 'file', name = nameFromFile(file), overrides, ...standing } = request;
  const value = overridden(withoutForbidden(parsed.value, problems), overrides);
  const used = await loadUsedFlows(value, { world, loaded, trail, check: checkUsed(world, loaded) });
  const places = new Source(file, source);
  const runners = new NamedRunners();
  const roles = new NamedRoles();
  const files = new NamedFiles();
  const flow = checkFlowValue(value, {
    ...standing,
    ...{ problems, world, used, runners, roles, files, trust, name },
    ...(trust === 'file' ? { file, position: (index) => positionOf(places, parsed.phases[index]) } : {}),
  });
  await runners.check(world, problems);
  await roles.check(world, problems);
  await files.check(world, problems);
  return flow;
}

function overridden<T>(value: T, { incremental, retries }: FlowOverrides = {}): T {
  if ((incremental === undefined && retries === undefined) || !isJsonObject(value as never)) return value;
  const { defaults, ...rest } = value as Record<string, JsonValue>;
  const own = isJsonObject(defaults ?? null) ? (defaults as JsonObject) : {};
  const retry = retries === undefined ? {} : { retry: own['retry'] ?? { max: retries } };
  const given = retries === undefined && defaults === undefined ? {} : { defaults: { ...own, ...retry } };
  return { ...rest, ...given, ...(incremental && { incremental }) } as T;
}

function positionOf(places: Source, offset: number | undefined) {
  return offset === undefined ? undefined : places.position(offset);
}

/** Checks a flow that another one uses. Its problems are shown when it is checked itself. */
function checkUsed(world: CheckWorld, loaded: LoadedFlows) {
  return async (file: string, bytes: Buffer, trail: readonly string[]): Promise<UsedFlow> => {
    const shown = displayPath(world.root, file);
    const { flow, diagnostics } = await check({ file: shown, text: bytes, world }, loaded, trail);
    if (flow) return { flow };
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const circle = errors.find(({ code }) => code === 'flow-circle');
    if (circle) return { problem: circle.message, circle: true };
    const first = errors[0];
    const place = first ? ` (${first.line}:${first.column} ${first.message})` : '';
    return { problem: `the flow ${shown} has problems${place}`, hint: `see: taskflow check ${shown}` };
  };
}

function nameFromFile(file: string): string {
  const base = file.slice(file.lastIndexOf('/') + 1).replace(/\.(ya?ml|jsonc?)$/i, '');
  const name = base
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MAX_NAME_LENGTH);
  return new RegExp(FLOW_NAME_PATTERN).test(name) && !isForbiddenName(name) ? name : 'flow';
}

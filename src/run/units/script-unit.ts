import { basename } from 'node:path';
import type { Failure, FailureCode } from '../../model/failure.js';
import type { RunBody } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { NO_OUTPUT, NO_USAGE, type Output } from '../../model/outcome.js';
import { StoredOutput } from '../../model/output.js';
import { withSaid } from '../../process/end-failure.js';
import type { ProcessRequest } from '../../process/process.js';
import { TAIL_BYTES, Tail } from '../../process/tail.js';
import type { RunContext } from '../context/context.js';
import type { PhaseContext } from '../context/phase-context.js';
import { failedBefore } from '../core/execution.js';
import { promised } from '../core/output.js';
import { lastWords } from '../core/output-text.js';
import type { Variables } from '../core/scope.js';
import { runMark } from '../execute/leftovers.js';
import { type Attempt, withRetries } from '../execute/retry.js';
import { journalChild } from '../execute/start-line.js';
import { admitted } from '../execute/with-slot.js';
import { type Workdir, workdirOf } from '../execute/workdir.js';
import { render, storedInput } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import { declaredVariables } from '../reuse/identify.js';
import { traceFor, withTracerHint } from './observing.js';
import { type Rendered, scriptBody } from './rendered-script.js';
import { type Prepare, type Prepared, travelling, type UnitSpec } from './unit.js';

/**
 * The whole environment of a script whose result can be reused. Variables that are in no key have one fixed value for
 * everybody; a script that names `env:LANG` sees the real one.
 */
const PLAIN_ENVIRONMENT = ['PATH', 'HOME'] as const;
const FIXED_ENVIRONMENT = { LANG: 'C.UTF-8', TERM: 'dumb' } as const;

const NO_FILES: readonly [] = [];

interface ReadyScript {
  readonly rendered: Rendered;
  readonly workdir: Workdir;
  readonly unkeepable: string | undefined;
}

export const prepareScript: Prepare<RunBody> = (at, spec) => {
  const rendered = renderScript(at, spec);
  const { failure, unkeepable } = unresolvedIn(at, rendered.unresolved);
  if (failure) return { failure };
  return scriptUnit(at, spec, { rendered, unkeepable });
};

/** A script whose placeholders are filled in: by this process, or by the one that sent it here. */
export function scriptUnit(
  at: PhaseContext,
  spec: UnitSpec,
  { rendered, unkeepable }: Pick<ReadyScript, 'rendered' | 'unkeepable'>,
): Prepared {
  const workdir = workdirOf(at, spec);
  if ('failure' in workdir) return workdir;
  return {
    parts: {
      body: {
        ...rendered.identity,
        ...(spec.role === undefined ? {} : { role: spec.role }),
        // A result made with the plain environment is not what would run now.
        ...(seesAll(at) && { environment: 'all' }),
      },
      env: rendered.env,
      cwd: workdir.name,
      ordinal: spec.ordinal,
      variables: spec.variables,
      reads: NO_FILES,
    },
    beginsItself: true,
    execute: (begin) =>
      withRetries(at, { unit: spec.label, calls: 'process' }, () =>
        admitted(at, undefined, () => {
          const refused = begin();
          if (refused) return Promise.resolve(failedBefore(refused));
          return runOnce(at, spec, { rendered, workdir, unkeepable });
        }),
      ),
    ...(unkeepable === undefined && { travelling: () => travelling(spec, workdir, scriptBody(rendered)) }),
  };
}

function renderScript(at: PhaseContext, { body, variables }: UnitSpec & { body: RunBody }): Rendered {
  const unresolved: string[] = [];
  const text = (template: string): string => {
    const result = render(at, template, variables);
    unresolved.push(...result.unresolved);
    return result.text;
  };
  // A string is one program for `sh`; the check has made sure that it holds no placeholders.
  const argv = typeof body.run === 'string' ? ['sh', '-c', body.run] : body.run.map(text);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(body.env)) env[name] = text(value);
  const { input, ...given } = renderInput(at, body.input, variables);
  unresolved.push(...(given.unresolved ?? []));
  const command: JsonObject = typeof body.run === 'string' ? { shell: body.run } : { argv };
  return { argv, input, env, unresolved, identity: { ...command, ...given.identity } };
}

interface RenderedInput {
  readonly input?: ProcessRequest['input'];
  /** A large output counts by its digest. */
  readonly identity?: JsonObject;
  readonly unresolved?: readonly string[];
}

/** What the script reads. A large output that is all of it is given as a file. */
function renderInput(at: PhaseContext, template: string | undefined, variables: Variables | undefined): RenderedInput {
  if (template === undefined) return {};
  const stored = storedInput(at, template);
  if (stored) return { input: { file: stored.file }, identity: { input: { digest: stored.stored.digest } } };
  const { text, base64, unresolved } = render(at, template, variables);
  if (base64 === undefined) return { input: text, identity: { input: text }, unresolved };
  return { input: Buffer.from(base64, 'base64'), identity: { inputBase64: base64 }, unresolved };
}

/** Imported once: in a bundle every `import()` copies the module's exports. */
let runner: Promise<typeof import('../../process/run-process.js')> | undefined;

async function runOnce(
  at: PhaseContext,
  spec: UnitSpec,
  { rendered, workdir, unkeepable }: ReadyScript,
): Promise<Attempt> {
  const entered = await workdir.enter();
  if ('failure' in entered) return failedBefore(entered.failure);
  const inputs = traceInputs(rendered, workdir.name);
  runner ??= import('../../process/run-process.js');
  const { runProcess } = await runner;
  const sink = at.run.io.outputs.sink();
  const trace = await traceFor(at, workdir);
  const result = await runProcess({
    argv: rendered.argv,
    cwd: entered.path,
    env: environmentFor(at, spec.variables, rendered.env),
    input: rendered.input,
    timeoutMs: at.phase.timeoutMs,
    idleTimeoutMs: at.phase.idleTimeoutMs,
    signal: at.signal,
    keepStdout: false,
    onStdout: (chunk) => sink.add(chunk),
    onStart: (child) => journalChild(at, child),
    trace,
  });
  const remark = await entered.leave?.();
  const observed = trace?.observation();
  at.run.reuse.fingerprints.touched();
  const said = sink.end();
  const output = 'failure' in said ? NO_OUTPUT : said;
  const ended = result.failure ?? ('failure' in said ? said.failure : undefined);
  const { output: form, expect } = at.phase;
  const isAsItIs = ended !== undefined || spec.plainOutput;
  const kept = isAsItIs ? { output } : await promised(output, { output: form, expect, lenient: false });
  const failed = ended ? explained(ended, output) : 'failure' in kept ? kept.failure : undefined;
  const failure = withTracerHint(failed, observed);
  return {
    status: failure ? statusOf(failure) : 'done',
    output: 'output' in kept ? kept.output : output,
    usage: NO_USAGE,
    durationMs: result.durationMs,
    attempts: 1,
    files: NO_FILES,
    failure,
    inputs,
    remark,
    unkeepable,
    observed,
  };
}

/** Failures that stdout may explain. A process that did not start wrote none; one that flooded it explains nothing. */
const EXPLAINED_BY_STDOUT: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'exit',
  'signal',
  'timeout',
  'idle-timeout',
]);

/** Compilers, linters and test runners say on stdout what is wrong: it counts where stderr is silent. */
function explained(failure: Failure, output: Output): Failure {
  const isText = output instanceof StoredOutput ? !output.stored.binary : output.base64 === undefined;
  if (!EXPLAINED_BY_STDOUT.has(failure.code) || failure.detail !== undefined || !isText) return failure;
  const tail = new Tail(TAIL_BYTES);
  tail.add(Buffer.from(lastWords(output)));
  return withSaid(failure, tail.text());
}

export function statusOf(failure: Failure): 'cancelled' | 'failed' {
  return failure.code === 'interrupted' ? 'cancelled' : 'failed';
}

function traceInputs(rendered: Rendered, cwd: string): JsonObject {
  const { argv, input } = rendered;
  const inputs: Record<string, JsonValue> = { argv };
  if (cwd !== '.') inputs['cwd'] = cwd;
  if (input !== undefined) inputs['input'] = shownInput(input);
  const env = Object.keys(rendered.env);
  if (env.length > 0) inputs['env'] = env;
  return inputs;
}

function shownInput(input: NonNullable<ProcessRequest['input']>): string {
  if (typeof input === 'string') return input.slice(0, 8_000);
  return 'file' in input ? `(the output ${basename(input.file)})` : `(${input.length} bytes)`;
}

/** A script that is reused, alone or as part of a nested flow, sees only declared variables. */
function environmentFor(at: PhaseContext, variables: Variables | undefined, own: Environment): Environment {
  const { env } = at.run.options.project;
  if (seesAll(at)) {
    return { ...env, ...runMark(at.run), ...own };
  }
  const plain = plainEnvironment(at.run);
  const declared = [...(at.scope.kept?.env ?? []), ...declaredVariables(at, variables)];
  if (declared.length === 0 && Object.keys(own).length === 0) return plain;
  const seen: Record<string, string | undefined> = { ...plain };
  for (const name of declared) seen[name] = env[name];
  return { ...seen, ...own };
}

function seesAll({ phase, scope }: PhaseContext): boolean {
  return phase.cache.scope !== 'cross-run' && scope.kept === undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The same for all scripts of a run. */
function plainEnvironment(run: RunContext): Environment {
  const known = plainEnvironments.get(run);
  if (known) return known;
  const { env } = run.options.project;
  const seen: Record<string, string | undefined> = { ...FIXED_ENVIRONMENT };
  for (const name of PLAIN_ENVIRONMENT) if (env[name] !== undefined) seen[name] = env[name];
  plainEnvironments.set(run, seen);
  return seen;
}

const plainEnvironments = new WeakMap<RunContext, Environment>();

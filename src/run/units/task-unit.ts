import type { RunnerEvent, RunnerRequest, RunnerResult } from '../../agent/runner.js';
import { undeclaredWrite } from '../../memo/output-files.js';
import type { Failure } from '../../model/failure.js';
import type { TaskBody } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { TEXT_BYTES } from '../../model/limits.js';
import type { Observation } from '../../model/observation.js';
import type { Output, TextOutput } from '../../model/output.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type AgentCall, agentCall } from '../core/agent-call.js';
import { failedBefore } from '../core/execution.js';
import { promised } from '../core/output.js';
import { markedEnvironment } from '../execute/leftovers.js';
import { type Attempt, withRetries } from '../execute/retry.js';
import { journalChild } from '../execute/start-line.js';
import { admitted } from '../execute/with-slot.js';
import { type Workdir, workdirOf } from '../execute/workdir.js';
import { type ContextText, contextMoved, contextText } from '../render/context-files.js';
import { fixedFence } from '../render/fence.js';
import { render } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import { sameModel } from '../reuse/same-model.js';
import { clientObservation, NOTHING_READ, traceFor } from './observing.js';
import { statusOf } from './script-unit.js';
import { type Prepare, type Prepared, travelling, type UnitSpec } from './unit.js';
import { joined, materialOf, promptFor } from './unit-prompt.js';

/** Without a promise where nothing has to be awaited: each item of a map comes by here. */
export const prepareTask: Prepare<TaskBody> = (at, spec) => {
  const task = render(at, spec.body.task, spec.variables);
  const system = render(at, spec.body.systemPrompt ?? '', spec.variables);
  const { failure, unkeepable } = unresolvedIn(at, [...task.unresolved, ...system.unresolved]);
  if (failure) return { failure };
  const withCall = (context: ContextText, call: Awaited<ReturnType<typeof agentCall>>): Prepared => {
    if ('failure' in call) return call;
    const inJson = spec.mayBeJson === true && call.pooled.runner.canAnswerJson === true;
    const asked = joined(task.text, materialOf(spec, { fence: fixedFence(), inJson }));
    return taskUnit(at, spec, { call, context, asked, system: system.text, inJson, unkeepable });
  };
  const withContext = (context: Awaited<ReturnType<typeof contextText>>): Prepared | Promise<Prepared> => {
    if ('failure' in context) return context;
    const calling = agentCall(at, spec.body, system.text);
    return calling instanceof Promise ? calling.then((call) => withCall(context, call)) : withCall(context, calling);
  };
  const reading = contextText(at, spec.variables);
  return reading instanceof Promise ? reading.then(withContext) : withContext(reading);
};

interface ReadyTask {
  readonly call: AgentCall;
  readonly context: ContextText;
  readonly asked: string;
  readonly system: string;
  readonly inJson: boolean;
  readonly unkeepable: string | undefined;
}

/** A task whose placeholders are filled in: by this process, or by the one that sent it here. */
export function taskUnit(
  at: PhaseContext,
  spec: UnitSpec & { readonly body: TaskBody },
  { call, context, asked, system, inJson, unkeepable }: ReadyTask,
): Prepared {
  const workdir = workdirOf(at, spec);
  if ('failure' in workdir) return workdir;
  const texts = { context: context.text, asked, system };
  const mayTravel = unkeepable === undefined && !spec.judges && !spec.mayBeJson;
  return {
    parts: {
      body: { task: asked, ...(spec.role === undefined ? {} : { role: spec.role }) },
      agent: call.identity,
      context: context.identity,
      moved: context.identity.length === 0 ? undefined : () => contextMoved(at, spec.variables, context),
      cwd: workdir.name,
      ordinal: spec.ordinal,
      variables: spec.variables,
      reads: call.isWritten ? context.reads : undefined,
      closed: call.pooled.runner.type === 'openai' ? true : undefined,
    },
    beginsItself: true,
    execute: (begin) =>
      withRetries(at, { unit: spec.label, calls: 'agent' }, () =>
        admitted(at, call.pooled, () => {
          const refused = begin();
          if (refused) return Promise.resolve(failedBefore(refused));
          const { prompt, systemPrompt } = promptFor(at, spec, { call, texts, inJson });
          return askOnce(at, { spec, call, prompt, systemPrompt, inJson, workdir, unkeepable });
        }),
      ),
    travelling: mayTravel
      ? () => travelling(spec, workdir, { type: 'task', task: asked, agent: call.identity })
      : undefined,
  };
}

interface Asked {
  readonly spec: UnitSpec;
  readonly call: AgentCall;
  readonly prompt: string;
  readonly systemPrompt: string | undefined;
  readonly inJson: boolean;
  readonly workdir: Workdir;
  readonly unkeepable: string | undefined;
}

async function askOnce(at: PhaseContext, asked: Asked): Promise<Attempt> {
  const { spec, call, prompt, workdir } = asked;
  const { run, phase } = at;
  const { project } = run.options;
  const entering = workdir.enter();
  const entered = entering instanceof Promise ? await entering : entering;
  if ('failure' in entered) return failedBefore(entered.failure);
  const startedAt = project.clock.elapsed();
  const listener = listenerOf(at, spec.label);
  const isRequest = call.pooled.runner.type === 'openai';
  const trace = isRequest ? undefined : await traceFor(at, workdir);
  const result = await call.pooled.runner.run({
    task: prompt,
    systemPrompt: asked.systemPrompt,
    answer: asked.inJson ? 'json' : undefined,
    model: call.model,
    thinking: call.thinking,
    tools: call.tools,
    cwd: entered.path,
    projectRoot: project.root,
    env: markedEnvironment(run),
    timeoutMs: phase.timeoutMs,
    idleTimeoutMs: phase.idleTimeoutMs ?? at.scope.flow.idleTimeoutMs,
    signal: at.signal,
    maxOutputBytes: Math.min(run.options.config.limits.outputBytes, TEXT_BYTES),
    mask: (text) => run.io.secrets.maskWhole(text),
    onEvent: listener.onEvent,
    onText: listener.onText,
    onChildStart: (child) => journalChild(at, child),
    trace,
  });
  listener.end?.();
  const remark = entered.leave && (await entered.leave());
  run.limits.ledger.spend(result.usage);
  run.reuse.fingerprints.touched();
  const durationMs = project.clock.elapsed() - startedAt;
  const workPath = entered.path;
  const doubting = asked.unkeepable ?? whyUnkeepable(at, asked, { result, workPath });
  // One after the other: an error of the second, unheard while the first is awaited, would end the process.
  const unkeepable = doubting instanceof Promise ? await doubting : doubting;
  const checking = checkedAnswer(at, spec, result);
  return judged(at, asked, {
    result,
    remark,
    durationMs,
    workPath,
    observed: isRequest ? NOTHING_READ : trace?.observation(),
    unkeepable,
    checked: checking instanceof Promise ? await checking : checking,
  });
}

type Listener = Pick<RunnerRequest, 'onEvent' | 'onText'> & { readonly end?: () => void };

const NOBODY: Listener = {};

/** Turns what an agent does and says into events, as far as anybody shows it. */
function listenerOf({ run, path }: PhaseContext, unit: string | undefined): Listener {
  const { progress = 'all' } = run.options;
  if (progress === 'none') return NOBODY;
  const report = (news: object) => run.io.emit({ type: 'phase-progress', phase: path, unit, ...news });
  const onEvent = (event: RunnerEvent) => {
    const { type, ...news } = event;
    report(type === 'tool' ? { tool: event.name } : news);
  };
  if (progress === 'steps') return { onEvent };
  const said = run.io.secrets.stream();
  const say = (text: string) => {
    if (text !== '') report({ text });
  };
  return { onEvent, onText: (piece: string) => say(said.push(piece)), end: () => say(said.end()) };
}

interface Answer {
  readonly result: RunnerResult;
  readonly remark: string | undefined;
  readonly durationMs: number;
  readonly workPath: string;
  readonly observed: Observation | undefined;
  /** Why it must not be reused. */
  readonly unkeepable: string | undefined;
  readonly checked: Checked;
}

type Checked = { readonly output: Output } | { readonly failure: Failure };

function judged(at: PhaseContext, asked: Asked, answer: Answer): Attempt {
  const { result, durationMs, checked } = answer;
  const failure = 'failure' in checked ? checked.failure : undefined;
  return {
    status: failure ? statusOf(failure) : 'done',
    output: at.run.io.outputs.keep('output' in checked ? checked.output : said(result)),
    usage: result.usage,
    durationMs,
    attempts: 1,
    files: [],
    model: result.model ?? asked.call.model,
    inputs: traceInputs(asked),
    remark: [answer.remark, denial(result)].filter(Boolean).join('; ') || undefined,
    usedTools: result.usedTools,
    clientVersion: result.clientVersion,
    observed: answer.observed ?? clientObservation(result, answer.workPath, at.run.options.project.root),
    unkeepable: answer.unkeepable,
    failure,
  };
}

function said({ text }: RunnerResult): TextOutput {
  return { text, json: null };
}

/** The answer as the phase promises it, or why it is no good. */
function checkedAnswer({ phase }: PhaseContext, spec: UnitSpec, result: RunnerResult): Checked | Promise<Checked> {
  const failure = failureOf(result);
  if (failure) return { failure };
  const output = said(result);
  const { output: form, expect } = phase;
  return spec.plainOutput ? { output } : promised(output, { output: form, expect, lenient: true });
}

function failureOf(result: RunnerResult): Failure | undefined {
  switch (result.stopReason) {
    case 'complete':
      return result.text.trim() === ''
        ? {
            code: 'empty',
            message: 'the agent ended without an answer',
            hint: 'Look at what it did with `taskflow trace`.',
          }
        : undefined;
    case 'cancelled':
      return result.failure ?? { code: 'interrupted', message: 'interrupted' };
    default:
      return result.failure ?? { code: 'runner', message: `the agent stopped: ${result.stopReason}` };
  }
}

function traceInputs({ call, prompt, systemPrompt, workdir }: Asked): JsonObject {
  return {
    task: prompt,
    runner: call.pooled.runner.name,
    ...(call.model === undefined ? {} : { model: call.model }),
    ...(call.tools === undefined ? {} : { tools: [...call.tools] }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(workdir.name === '.' ? {} : { cwd: workdir.name }),
  };
}

/** An answer that lacks what was not allowed may look like any other, so the report says it. */
function denial({ permissionDenied, deniedTools = [] }: RunnerResult): string | undefined {
  if (!permissionDenied) return undefined;
  return `the agent was denied a permission${deniedTools.length === 0 ? '' : ` (${deniedTools.join(', ')})`}`;
}

type Worked = Pick<Answer, 'result' | 'workPath'>;

/** Why a good answer must not be reused. */
function whyUnkeepable(
  at: PhaseContext,
  asked: Asked,
  answer: Worked,
): string | undefined | Promise<string | undefined> {
  const { result } = answer;
  if (result.permissionDenied) return denial(result);
  const { model } = asked.call;
  if (model !== undefined && result.model !== undefined && !sameModel(model, result.model)) {
    return `asked for ${model}, answered by ${result.model}`;
  }
  // Checked wherever the answer may become part of a result that is kept.
  const counts = at.phase.cache.scope === 'cross-run' || at.scope.kept !== undefined;
  return counts && result.filesWritten.length > 0 ? undeclaredFile(at, asked, answer) : undefined;
}

async function undeclaredFile(
  at: PhaseContext,
  { workdir }: Asked,
  { result: { filesWritten }, workPath }: Worked,
): Promise<string | undefined> {
  // Files in a temporary, dedicated or worktree folder are not part of the result.
  if (workdir.name === 'temp' || workdir.name === 'worktree' || workdir.name === 'dedicated') return undefined;
  const { root } = at.run.options.project;
  const path = await undeclaredWrite(filesWritten, { outputs: at.phase.outputs, cwd: workPath, root });
  return path === undefined ? undefined : `it wrote ${path}, which \`outputs\` does not name`;
}

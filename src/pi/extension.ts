import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Asked, Context, ListedRun, Outcome, Pi, RunEvent, SavedFlow, ToolCall, ToolResult } from './types.js';

/**
 * taskflow inside of pi: the tool `taskflow`, the commands `/tf` and `/tf:<name>`. It has no state of its own: it
 * starts the command line and shows what that says. One file without dependencies, because pi loads it as it is.
 */
export default function taskflow(pi: Pi): void {
  pi.registerTool(tool);
  pi.registerCommand('tf', {
    description: `taskflow: ${Object.keys(COMMANDS).join(', ')}`,
    getArgumentCompletions: (prefix) =>
      Object.keys(COMMANDS)
        .filter((name) => name.startsWith(prefix))
        .map((name) => ({ value: name, label: name })),
    handler: (line, ctx) => typed(pi, line, ctx),
  });
  pi.on('session_start', async (_event, ctx) => {
    for (const { flow, from, description } of await listed<SavedFlow>(['list'], ctx.cwd)) {
      if (from === 'flows') continue;
      pi.registerCommand(`tf:${flow}`, {
        description: visible(description ?? `run the flow ${flow}`),
        handler: (line, ctx) => typed(pi, `run ${flow} ${line}`, ctx),
      });
    }
  });
  pi.on('session_shutdown', (event) => {
    // Another session of the same pi: the runs go on, and their journals say how they end.
    if ((event as { readonly reason?: string }).reason !== 'quit') return;
    for (const child of children) child.kill('SIGINT');
  });
}

const shown = (text: string, details: unknown = {}): ToolResult => ({ content: [{ type: 'text', text }], details });

// The command line.

const OWN = fileURLToPath(new URL('../../dist/taskflow.cjs', import.meta.url));

/** The command of this package; without it, for a copied file, the one that is installed. */
function program(): readonly string[] {
  if (!existsSync(OWN)) return ['taskflow'];
  // A pi that is a single program has no Node to start it with; the file's first line names one.
  return 'bun' in process.versions ? [OWN] : [process.execPath, OWN];
}

const children = new Set<ChildProcess>();
/** A run that was asked to end does so in order; asked once more it ends at once. */
const PATIENCE_MS = 20_000;
/** Characters that are kept of a command's output. The events of a run are not kept. */
const MOST_KEPT = 1_000_000;

interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input?: string;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function call({ args, cwd, input = '', signal, onLine }: Call): Promise<Ended> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ status: 130, stdout: '', stderr: 'cancelled' });
    const [file = '', ...first] = program();
    const child = spawn(file, [...first, ...args], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    children.add(child);
    let [stdout, stderr, rest] = ['', '', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!onLine) {
        stdout = (stdout + text).slice(0, MOST_KEPT);
        return;
      }
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MOST_KEPT);
    });
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => {
      child.kill('SIGINT');
      timer = setTimeout(() => child.kill('SIGINT'), PATIENCE_MS);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    const end = (ended: Ended) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      children.delete(child);
      resolve(ended);
    };
    const missing = 'the command taskflow is not there: npm install -g taskflow-cli';
    child.on('error', ({ message }) => end({ status: 127, stdout, stderr: `${missing} (${message})` }));
    child.on('close', (status) => end({ status, stdout, stderr }));
    child.stdin.on('error', () => {}); // It may end without reading.
    child.stdin.end(input);
  });
}

async function listed<T>(args: readonly string[], cwd: string): Promise<readonly T[]> {
  const found = readJson((await call({ args: [...args, '--json'], cwd })).stdout);
  return Array.isArray(found) ? found : [];
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Cut short, or not for us.
    return undefined;
  }
}

// A run.

/** The state of a run, folded from its events. */
class Run {
  runId = '';
  flow = '';
  /** Empty until it has ended. */
  status = '';
  usd: number | null = 0;
  error: RunEvent['error'];
  output: Outcome['output'] = { text: '' };
  readonly phases = new Map<string, string>();
  /** The questions of the run by phase, word for word. */
  readonly questions = new Map<string, string>();
  #result: string | undefined;

  read(line: string): boolean {
    const event = readJson(line) as RunEvent | undefined;
    if (!event) return false;
    this.runId = event.runId ?? this.runId;
    const { type, phase } = event;
    if (type === 'run-start') this.#begin(event);
    else if (type === 'phase-start') this.phases.set(phase, '▸');
    else if (type === 'phase-end') this.#endPhase(phase, event.outcome);
    else if (type === 'approval') this.questions.set(phase, event.text);
    else if (END.test(type)) Object.assign(this, { status: type, ...picked(event) });
    else return false;
    return true;
  }

  lines(): string[] {
    const phases = [...this.phases].map(([id, state]) => `${state} ${id}`);
    return [`${this.flow} ${this.runId}: ${this.status || 'running'}`, ...phases].map(visible);
  }

  details(): object {
    const { runId, flow, status, error } = this;
    return { runId, flow, status: status || 'running', phases: Object.fromEntries(this.phases), error };
  }

  #begin({ flow, phases, result }: RunEvent): void {
    this.flow = flow;
    this.#result = result;
    this.questions.clear();
    for (const { id } of phases) this.phases.set(id, '·');
  }

  #endPhase(phase: string, { status, cacheHit, output }: Outcome): void {
    const mark = MARKS[status] ?? status;
    this.phases.set(phase, cacheHit === null ? mark : `${mark} (reused)`);
    if (phase === this.#result && status === 'done') this.output = output;
  }
}

const END = /^(?:run-end|refused|broken)$/;
const picked = ({ status, spent, error }: RunEvent) => ({ ...(status && { status }), usd: spent?.usd ?? 0, error });
const MARKS: Readonly<Record<string, string>> = { done: '✔', failed: '✖', skipped: '–', blocked: '■', paused: '?' };

interface Start {
  readonly args: readonly string[];
  readonly input?: string;
  readonly ctx: Context;
  readonly signal?: AbortSignal;
  readonly onChange: (run: Run) => void;
}

const UPDATE_MS = 100;

/** Runs to the end, or to a question that was not answered with yes. */
async function follow({ args, input, ctx, signal, onChange }: Start): Promise<{ run: Run; ended: Ended }> {
  const run = new Run();
  const step = (more: readonly string[], given?: string) => {
    let timer: NodeJS.Timeout | undefined;
    const update = () => {
      timer = undefined;
      onChange(run);
    };
    const onLine = (line: string) => {
      if (run.read(line)) timer ??= setTimeout(update, UPDATE_MS);
    };
    return call({ args: more, cwd: ctx.cwd, input: given, signal, onLine }).finally(() => {
      clearTimeout(timer);
      onChange(run);
    });
  };
  let ended = await step(args, input);
  while (run.status === 'paused' && ctx.hasUI && (await allApproved(run, ctx, signal))) {
    ended = await step(['resume', '--events', '--', run.runId]);
  }
  return { run, ended };
}

/** Only a yes decides. No, Escape and an abort leave the question open. */
async function allApproved({ runId, questions }: Run, ctx: Context, signal?: AbortSignal): Promise<boolean> {
  if (questions.size === 0) return false;
  for (const [phase, text] of questions) {
    const isYes = await ctx.ui.confirm(`Approve ${visible(phase)}?`, visible(text), { signal });
    if (isYes !== true || signal?.aborted) return false;
    const { status } = await call({ args: ['approve', '--', runId, phase], cwd: ctx.cwd });
    if (status !== 0) return false;
  }
  return true;
}

/** A text must not move the cursor or hide a part of itself: a person decides about what they read. */
function visible(text: string): string {
  const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(acting, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** More does not help a model. */
const MOST_SHOWN = 20_000;

function cut(text: string, whole: string): string {
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}\n… ${text.length - MOST_SHOWN} more characters; the whole: ${whole}`;
}

function outcomeText(run: Run, { stderr }: Ended): string {
  const { runId, error, output, usd } = run;
  const lines = run.runId === '' ? [] : run.lines();
  if (usd) lines.push(`spent $${usd}`);
  if (error) lines.push(`error: ${error.message}`, ...(error.hint ? [`hint: ${error.hint}`] : []));
  if (run.status === '' || run.status === 'refused') lines.push(cut(stderr.trim(), 'the first problem comes first'));
  if (run.status === 'paused') lines.push(...waitingLines(run));
  if (output.text !== '') {
    const whole = output.file ? output.file.path : `taskflow runs show ${runId} --json`;
    lines.push('output:', output.file ? `${cut(output.text, whole)}\nthe whole: ${whole}` : cut(output.text, whole));
  }
  return lines.join('\n');
}

function waitingLines({ runId, questions }: Run): string[] {
  const asked = [...questions].flatMap(([phase, text]) => [
    `${phase} waits for a person, who is asked:`,
    cut(visible(text), `taskflow runs show ${runId}`),
    `taskflow approve ${runId} ${phase}   or   taskflow reject ${runId} ${phase}`,
  ]);
  return [...asked, `then: taskflow resume ${runId}`];
}

// The tool.

const ACTIONS = ['list', 'check', 'plan', 'run', 'resume', 'status', 'explain', 'approve', 'cancel'] as const;

const text = (description: string) => ({ type: 'string', description });

const tool = {
  name: 'taskflow',
  label: 'taskflow',
  description: [
    'Runs declared flows of agents and scripts, and reuses what has not changed. Actions: list (flows and arguments),',
    'check FLOW (all problems), plan FLOW (what would run and why), run FLOW, resume RUN, status [RUN],',
    'explain FLOW [PHASE] (why it would run or be reused), approve RUN (asks the person), cancel RUN.',
  ].join(' '),
  promptSnippet: 'Run, check and explain flows (.yaml files, saved flows) with taskflow',
  parameters: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ACTIONS, description: 'what to do' },
      flow: text('a path, or the name of a saved flow'),
      args: { type: 'object', description: "the flow's arguments, by name", additionalProperties: true },
      run: text('id of a run; without it the last one'),
      phase: text('id of a phase'),
    },
    required: ['action'],
  },
  async execute(...[, asked, signal, onUpdate, ctx]: ToolCall): Promise<ToolResult> {
    const starts = startOf(asked);
    if (starts) {
      const onChange = (run: Run) => onUpdate?.(shown(run.lines().join('\n'), run.details()));
      const { run, ended } = await follow({ ...starts, ctx, signal, onChange });
      const said = outcomeText(run, ended);
      // pi shows what is thrown as an error of the tool.
      if (run.status !== 'success' && run.status !== 'paused') throw new Error(said);
      return shown(said, run.details());
    }
    if (asked.action === 'approve') return shown(await decide(asked.run, ctx, signal));
    const { status, stdout, stderr } = await call({ ...lookOf(asked), cwd: ctx.cwd, signal });
    const said = cut(`${stdout}${stdout === '' || status !== 0 ? stderr : ''}`.trim(), 'ask for less');
    if (status !== 0 && asked.action !== 'check') throw new Error(said);
    return shown(said);
  },
};

const ARGS = ['--args-file', '-'];

/** The command line of an action that starts a run. */
function startOf({ action, flow, run, args }: Asked): Pick<Start, 'args' | 'input'> | undefined {
  if (action === 'resume') return { args: ['resume', '--events', '--', run ?? 'last'] };
  if (action !== 'run') return undefined;
  return { args: ['run', '--events', ...(args ? ARGS : []), '--', named(flow)], input: args && JSON.stringify(args) };
}

/** The command line of an action that only looks, and of `cancel`. */
function lookOf({ action, flow, run, phase, args }: Asked): Pick<Call, 'args' | 'input'> {
  const given = args ? ARGS : [];
  const input = args && JSON.stringify(args);
  const phases = phase === undefined ? [] : [phase];
  if (action === 'check') return { args: ['check', '--', named(flow)] };
  if (action === 'plan') return { args: ['run', '--dry-run', ...given, '--', named(flow)], input };
  if (action === 'explain') return { args: ['explain', ...given, '--', named(flow), ...phases], input };
  if (action === 'cancel') return { args: ['runs', 'cancel', '--', run ?? 'last'] };
  if (action === 'status') return { args: run === undefined ? ['runs'] : ['runs', 'show', '--', run] };
  return { args: ['list'] };
}

function named(flow: string | undefined): string {
  if (flow === undefined || flow === '') throw new Error('flow is missing: taskflow list shows what there is');
  return flow;
}

/** Puts the questions of a waiting run to the person. */
async function decide(typedRun: string | undefined, ctx: Context, signal?: AbortSignal): Promise<string> {
  const { cwd } = ctx;
  const runs = await listed<ListedRun>(['runs', '--limit', '200'], cwd);
  const wentOn = new Set(runs.map(({ continues }) => continues));
  const runId = typedRun ?? runs.find((run) => run.state === 'paused' && !wentOn.has(run.runId))?.runId;
  if (runId === undefined) return 'no run waits for an approval';
  const run = new Run();
  const onLine = (line: string) => run.read(line);
  const { status, stderr } = await call({ args: ['runs', 'logs', '--events', '--', runId], cwd, onLine });
  if (status !== 0) return stderr.trim();
  if (run.questions.size === 0) return `${run.runId} asks nothing`;
  if (!ctx.hasUI) return waitingLines(run).join('\n');
  if (!(await allApproved(run, ctx, signal))) return ['nothing was decided', ...waitingLines(run)].join('\n');
  return `approved. Go on: taskflow resume ${run.runId}`;
}

// What a person types.

const COMMANDS: Readonly<Record<string, (words: string[], ctx: Context) => Promise<string>>> = {
  list: (_, ctx) => plain(['list'], ctx),
  run: ([flow, ...words], ctx) => followed(['run', '--events', '--', named(flow), ...words], ctx),
  resume: ([run = 'last'], ctx) => followed(['resume', '--events', '--', run], ctx),
  runs: (words, ctx) => plain(words.length > 0 ? ['runs', 'show', '--', ...words] : ['runs'], ctx),
  check: (words, ctx) => plain(['check', '--', ...words], ctx),
  explain: (words, ctx) => plain(['explain', '--', ...words], ctx),
  approve: ([run], ctx) => decide(run, ctx),
  reject: (words, ctx) => plain(['reject', '--', ...words], ctx),
  cancel: ([run = 'last'], ctx) => plain(['runs', 'cancel', '--', run], ctx),
};

async function plain(args: readonly string[], { cwd }: Context): Promise<string> {
  const { stdout, stderr } = await call({ args, cwd });
  return cut(`${stdout}${stderr}`.trim(), `taskflow ${args.filter((word) => word !== '--').join(' ')}`);
}

async function followed(args: readonly string[], ctx: Context): Promise<string> {
  const widget = (lines: string[] | undefined) => ifThere(() => ctx.hasUI && ctx.ui.setWidget('taskflow', lines));
  const { run, ended } = await follow({ args, ctx, onChange: (now) => widget(now.lines().slice(0, 12)) });
  widget(undefined);
  return outcomeText(run, ended);
}

/** Words as a shell splits them, as far as quotes go. */
function split(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

async function typed(pi: Pi, line: string, ctx: Context): Promise<void> {
  const [name = 'list', ...words] = split(line);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const say = (content: string) => ifThere(() => pi.sendMessage({ customType: 'taskflow', content, display: true }));
  const unknown = `/tf has ${Object.keys(COMMANDS).join(', ')}`;
  const work = (async () => (command ? command(words, ctx) : unknown))().then(say, ({ message }) => say(message));
  // Somebody at a terminal goes on typing while a run is under way; without one, pi would end.
  if (!ctx.hasUI) await work;
}

/** After a session has been left, everything of it throws. */
function ifThere(show: () => void): void {
  try {
    show();
  } catch {
    // The session has ended. The run's journal has everything.
  }
}

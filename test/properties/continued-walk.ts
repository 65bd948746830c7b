import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { loadFlow, openProject, runFlow } from '../../src/index.js';
import type { RunResult } from '../../src/run/core/result.js';
import type { JournalLine } from '../../src/run/journal/lines.js';
import { readLines } from '../../src/run/journal/reader.js';
import type { Project } from '../../src/util/project.js';
import { cliEnvironment } from '../support/cli.js';
import { effort } from '../support/effort.js';
import { linesOf, startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { until } from '../support/processes.js';
import type { Random } from '../support/random.js';
import { createRig, type Rig } from '../support/rig.js';
import { againBy, argvOf, type Command, drawCommand, optionsOf, textOf, wordless } from './continued-command.js';
import {
  actsOf,
  flowOf,
  INPUTS,
  isActing,
  OUTSIDE,
  programs,
  randomSteps,
  type Step,
  TOPICS,
  WORDS,
  writtenBy,
} from './continued-flow.js';
import { ActsModel, type Simulated, simulate } from './continued-simulation.js';

const HOUR = 3_600_000;
/** Every process of a walk takes its time from here. */
const SHIFTED = `const offset = Number(require('node:fs').readFileSync(__dirname + '/offset', 'utf8'));
const now = Date.now;
Date.now = () => now() + offset;
`;

/** A project, its flow and all that happens to them, beside a plain model of what may come of it. */
export class Walk {
  readonly story: string[] = [];
  reused = 0;
  readonly #rig: Rig = createRig({}, effort<'off' | 'auto'>('off', 'auto'));
  readonly #project: Project;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #log: string;
  readonly #steps: readonly Step[];
  readonly #file: string;
  readonly #files = new Map<string, string>();
  readonly #acts = new Map(TOPICS.map((topic) => [topic, new ActsModel()]));
  /** By topic: the last run, while nothing was edited since. */
  readonly #unedited = new Map<string, RunResult>();
  /** By topic: what decides whether the next run continues; unset where that is hard to say. */
  readonly #last = new Map<string, { readonly status: string; readonly flow: string; readonly at: number }>();
  /** Topics of which some run was killed or failed: what it had begun may never have got to its first line. */
  readonly #troubled = new Set<string>();
  readonly #runs = new Set<string>();
  #edit = 0;
  #offset = 0;
  #read = 0;
  #stoppedAt: Step | undefined;

  constructor(private readonly random: Random) {
    const rig = this.#rig;
    const base = join(rig.root, '..');
    this.#log = join(base, 'walk-log');
    this.#steps = randomSteps(random);
    this.#file = random.pick(['flow.json', '.pi/taskflows/walk.json']);
    for (const [path, text] of Object.entries(programs(this.#log))) rig.write(path, text, 0o755);
    rig.write('../shifted.cjs', SHIFTED);
    this.#moveClock(0);
    for (const file of [...INPUTS, OUTSIDE]) this.#write(file, '0');
    const { XDG_CACHE_HOME } = process.env;
    const NODE_OPTIONS = `--require ${join(base, 'shifted.cjs')}`;
    this.#env = { ...cliEnvironment(rig.root, { HOME: join(base, 'home'), XDG_CACHE_HOME, NODE_OPTIONS }) };
    const { clock, ...project } = openProject(rig.root, this.#env);
    this.#project = { ...project, clock: { now: () => clock.now() + this.#offset, elapsed: () => clock.elapsed() } };
  }

  remove(): void {
    this.#rig.remove();
  }

  async step(): Promise<void> {
    const { random } = this;
    const edits = Array.from({ length: random.below(3) }, () => this.#editSomething());
    if (random.chance(0.08)) edits.push(this.#moveClock(this.#offset === 0 ? 25 * HOUR : 0));
    const failing = random.chance(0.35) ? [`fail-${this.#anyName()}`] : [];
    const drawn = drawCommand(random, {
      steps: this.#steps,
      isSaved: this.#file !== 'flow.json',
      stoppedAt: this.#stoppedAt,
      mayBeKept: (step, topic) => actsOf(step).every((name) => this.#acts.get(topic)!.isKnown(name)),
      unedited: (topic) => this.#unedited.get(topic),
    });
    this.#rig.write(this.#file, JSON.stringify(flowOf(this.#steps, this.#edit), null, 2));
    const way = drawn.resume === undefined ? random.below(16) : 15;
    const killed = way < 2 ? this.#anyName() : undefined;
    const command = way === 2 || way === 3 ? wordless(drawn) : killed === undefined ? drawn : { ...drawn, skip: [] };
    const how = killed === undefined ? (command === drawn ? '' : 'two at once: ') : `killed in ${killed}: `;
    this.story.push([...edits, ...failing, how + textOf(command).join(' ')].join(', '));
    for (const flag of failing) this.#rig.write(`../${flag}`, '');
    const results = await this.#run(command, { killed, way });
    for (const flag of failing) rmSync(join(this.#rig.root, '..', flag), { force: true });
    this.#judge(command, results);
  }

  async #run(command: Command, { killed, way }: { killed: string | undefined; way: number }): Promise<RunResult[]> {
    if (killed !== undefined) return this.#killed(command, killed);
    if (way === 2) return Promise.all([this.#spawned(command), this.#spawned(command)]);
    if (way === 3) return this.#overlapping(command, this.#anyName());
    if (way === 4) return [await this.#spawned(command)];
    const flow = await loadFlow(this.#project, command.byName ? 'walk' : `./${this.#file}`);
    return [await runFlow(this.#project, flow, optionsOf(command)).result];
  }

  #start(command: Command) {
    return startCli(argvOf(command, this.#file), { cwd: this.#rig.root, env: this.#env });
  }

  async #spawned(command: Command): Promise<RunResult> {
    const { stdout, stderr } = await this.#start(command).done;
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as RunResult;
  }

  /** Kills the run outright when the named step, which hangs, has begun. Nothing if it got to its end without that. */
  async #killed(command: Command, name: string): Promise<RunResult[]> {
    const flag = `../slow-${name}`;
    this.#rig.write(flag, '');
    const live = this.#start(command);
    let over = false;
    void live.done.then(() => {
      over = true;
    });
    await until(() => over || this.#hasBegun(name), 60_000);
    live.kill('SIGKILL');
    const { stdout } = await live.done;
    rmSync(join(this.#rig.root, flag));
    // What the run has left behind comes to its end, so that the log is complete.
    await until(() => livingIn(this.#rig.root).length === 0, 60_000);
    return stdout === '' ? [] : [JSON.parse(stdout) as RunResult];
  }

  /** The second is started while the first waits in the named step, if it gets there. */
  async #overlapping(command: Command, name: string): Promise<RunResult[]> {
    const flag = `../wait-${name}`;
    this.#rig.write(flag, '');
    let over = false;
    const first = this.#spawned(command).finally(() => {
      over = true;
    });
    await until(() => over || this.#hasBegun(name), 60_000);
    const second = this.#spawned(command);
    await pause(400);
    rmSync(join(this.#rig.root, flag));
    return Promise.all([first, second]);
  }

  #hasBegun(name: string): boolean {
    return linesOf(this.#log)
      .slice(this.#read)
      .some((line) => line.split(' ')[2] === name);
  }

  #anyName(): string {
    const step = this.random.pick(this.#steps);
    return this.random.pick(isActing(step) ? actsOf(step) : [step.id]);
  }

  #editSomething(): string {
    const { random } = this;
    this.#unedited.clear();
    switch (random.below(5)) {
      case 0: {
        const step = random.pick(this.#steps);
        step.word = random.pick(WORDS);
        return `${step.id} says ${step.word}`;
      }
      case 1:
        this.#edit += 1;
        return 'cosmetic';
      case 2: {
        const file = random.pick(INPUTS);
        rmSync(join(this.#rig.root, file), { force: true });
        this.#files.delete(file);
        return `rm ${file}`;
      }
      case 3:
        return this.#write(OUTSIDE, String(random.below(3)));
      default:
        return this.#write(random.pick(INPUTS), String(random.below(3)));
    }
  }

  #write(file: string, content: string): string {
    this.#files.set(file, content);
    this.#rig.write(file, content);
    return `${file}=${content}`;
  }

  #moveClock(offset: number): string {
    this.#offset = offset;
    this.#rig.write('../offset', String(offset));
    return `clock +${offset / HOUR}h`;
  }

  #judge(command: Command, results: readonly RunResult[]): void {
    const { topic, from } = command;
    this.story.push(
      ...results.map(({ status, error }) => `  ${status}${error ? ` (${error.code}: ${error.message})` : ''}`),
    );
    if (this.#newRuns().some((runId) => this.#isAfresh(runId))) this.#acts.get(topic)!.startedOver();
    this.#readLog(command, results);
    for (const result of results) {
      this.#compare(command, result);
      if (results.length === 1) this.#expectContinued(command, result);
    }
    this.#expectOneHeir(results);
    const [last] = results.length === 1 ? results : [];
    this.#stoppedAt = last?.error?.code === 'in-doubt' ? this.#stepOf(last.error.phase) : undefined;
    if (this.#stoppedAt && !this.#acts.get(topic)!.hasBegun(this.#stoppedAt) && !this.#troubled.has(topic)) {
      throw new Error(`stopped at ${this.#stoppedAt.id}, which had never begun`);
    }
    if (last?.status !== 'success') this.#troubled.add(topic);
    if (from) return;
    if (last) this.#unedited.set(topic, last);
    else this.#unedited.delete(topic);
    // One that stops at an earlier run's side effect may leave that run as the one to be continued.
    if (last && last.error?.code !== 'in-doubt') {
      this.#last.set(topic, { status: last.status, flow: this.#rig.read(this.#file), at: this.#project.clock.now() });
    } else this.#last.delete(topic);
  }

  /** Nothing is done twice without a person's word. The log has one order, whoever wrote to it. */
  #readLog(command: Command, results: readonly RunResult[]): void {
    const model = this.#acts.get(command.topic)!;
    const again = againBy(command);
    const lines = linesOf(this.#log).slice(this.#read).map(parseLine);
    this.#read += lines.length;
    for (const line of lines) {
      const { what, topic, name, runId } = line;
      if (what === 'ran') continue;
      expect(topic).toBe(command.topic);
      if (what === 'begin') {
        const objection = model.objection(name, { word: again.has(name), afresh: this.#isAfresh(runId) });
        if (objection !== undefined) throw new Error(`${name} was done again: ${objection}`);
      }
      note(model, line);
      const hasSucceeded = results.some((result) => result.runId === runId && result.status === 'success');
      if (what === 'end' && !command.from && hasSucceeded) model.finish(command.skip.flatMap(actsOf));
    }
  }

  #newRuns(): string[] {
    const all = readdirSync(join(this.#rig.root, '.pi/taskflows/runs')).filter((name) => /^\d{8}-/.test(name));
    const runs = all.filter((name) => !this.#runs.has(name));
    for (const name of runs) this.#runs.add(name);
    return runs;
  }

  #isAfresh(runId: string): boolean {
    const [head] = this.#journal(runId);
    return head?.type === 'run' && head.continues === undefined;
  }

  /** Whatever was reused, what a run says and leaves behind is what a run of everything would. */
  #compare(command: Command, { phases, continues }: RunResult): void {
    const outcomes = new Map(phases.map((phase) => [phase.id, phase]));
    const simulated = simulate(this.#steps, this.#files, ({ id }) => outcomes.get(id)?.output);
    const unknown = new Set<string>();
    for (const step of this.#steps) {
      const phase = outcomes.get(step.id);
      if (phase?.status === 'skipped' || step.needs.some(({ id }) => unknown.has(id))) unknown.add(step.id);
      if (phase?.status !== 'done' || unknown.has(step.id)) continue;
      if (phase.cacheHit) this.reused += 1;
      const { said, text } = simulated.get(step.id)!;
      const { id, output, reason } = phase;
      if (isActing(step)) {
        this.#compareAct(command, step, { text, said });
        continue;
      }
      const wrote = this.#rig.read(writtenBy(step));
      expect({ id, reason, output, wrote }).toEqual({ id, reason, output: said, wrote: text });
      const isBySelf = continues !== undefined && command.resume === undefined && !command.from;
      if (isBySelf && phase.cacheHit === 'run') expect(phase.ageMs).toBeLessThanOrEqual(24 * HOUR);
    }
  }

  /** What is not done again is what would be done now, or somebody said that it counts as that. */
  #compareAct({ topic, skip }: Command, step: Step, { text, said }: Simulated): void {
    const model = this.#acts.get(topic)!;
    for (const name of actsOf(step)) {
      if (skip.includes(step)) model.kept(name, text);
      const wanted = step.policy === 'acts' ? expect.objectContaining({ text }) : { text, said };
      expect({ name, results: model.results(name) }).toEqual({ name, results: expect.arrayContaining([wanted]) });
    }
  }

  /** A run goes on with the last one by itself exactly if that did not succeed, or the flow is another. */
  #expectContinued({ topic, flag, byName, rerun, from, resume }: Command, { continues }: RunResult): void {
    const last = this.#last.get(topic);
    if (!last || from || resume !== undefined || rerun.length > 0 || (flag !== undefined && flag !== '--keep-going'))
      return;
    const isRecent = Math.abs(this.#project.clock.now() - last.at) < 24 * HOUR;
    const isOpen = last.status !== 'success' || last.flow !== this.#rig.read(this.#file);
    if (byName || (isOpen && isRecent)) expect({ continued: continues !== undefined }).toEqual({ continued: !byName });
  }

  /** A run is continued by one other, and not while it goes on. */
  #expectOneHeir([one, two]: readonly RunResult[]): void {
    if (!one || !two) return;
    if (one.continues !== undefined) expect(two.continues).not.toBe(one.continues);
    for (const [heir, of] of [
      [one, two],
      [two, one],
    ] as const) {
      if (heir.continues !== of.runId) continue;
      expect(this.#journal(of.runId).at(-1)?.at).toBeLessThanOrEqual(this.#journal(heir.runId)[0]!.at);
    }
  }

  #journal(runId: string): JournalLine[] {
    const journal = join(this.#rig.root, '.pi/taskflows/runs', runId, 'journal.jsonl');
    return Array.from(readLines(journal), ({ line }) => line);
  }

  #stepOf(path: string): Step | undefined {
    return this.#steps.find(({ id }) => path === id || path.startsWith(`${id}/`) || path.startsWith(`${id}[`));
  }
}

interface LogLine {
  readonly what: string;
  readonly topic: string;
  readonly name: string;
  readonly runId: string;
  readonly text: string;
}

function parseLine(line: string): LogLine {
  const [what = '', topic = '', name = '', runId = '', text = ''] = line.split(' ');
  return { what, topic, name, runId, text };
}

function note(model: ActsModel, { what, name, text }: LogLine): void {
  if (what === 'begin') model.begin(name, text);
  if (what === 'done') model.done(name);
  if (what === 'fail') model.failed(name);
}

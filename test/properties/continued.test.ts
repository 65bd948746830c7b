import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { CLI, cliEnvironment } from '../support/cli.js';
import { until } from '../support/processes.js';
import { type Random, randomFrom } from '../support/random.js';
import { createRig, type Rig, type RigOptions } from '../support/rig.js';
import { INPUTS, phaseOfStep, program, randomSteps, type Step, simulate, WORDS, written } from './continued-model.js';

/** Edits and runs of one project, one after the other. */
const STEPS_EACH = 14;
const SEQUENCES = Math.ceil(Number(process.env['TASKFLOW_STEPS'] ?? 200) / STEPS_EACH);

class Walk {
  readonly #rig: Rig = createRig();
  readonly #steps: Step[];
  readonly #files = new Map<string, string>();
  #seed = 0;
  /** Of the last run that was whole; undefined when something was edited since. */
  #unedited: RunResult | undefined;
  reused = 0;

  constructor(private readonly random: Random) {
    this.#steps = randomSteps(random);
    this.#rig.write('bin/step', program(join(this.#rig.root, '../log')), 0o755);
    for (const file of INPUTS) this.#edit(file, '0');
  }

  remove(): void {
    this.#rig.remove();
  }

  async step(): Promise<string> {
    const { random } = this;
    const done: string[] = [];
    for (let edits = random.below(3); edits > 0; edits--) done.push(this.#randomEdit());
    const flags = this.#breakSomething();
    done.push(...flags.map((flag) => `../${flag}`));
    done.push(await this.#randomRun());
    for (const flag of flags) rmSync(join(this.#rig.root, '..', flag), { force: true });
    return done.join(', ');
  }

  #randomEdit(): string {
    const { random } = this;
    this.#unedited = undefined;
    const kind = random.below(4);
    if (kind === 0) {
      const step = random.pick(this.#steps);
      step.word = random.pick(WORDS);
      return `${step.id} says ${step.word}`;
    }
    if (kind === 1) {
      this.#seed += 1;
      return 'cosmetic';
    }
    const file = random.pick(INPUTS);
    if (kind === 2 && this.#files.has(file)) {
      rmSync(join(this.#rig.root, file));
      this.#files.delete(file);
      return `rm ${file}`;
    }
    return this.#edit(file, String(random.below(3)));
  }

  #edit(file: string, content: string): string {
    this.#files.set(file, content);
    this.#rig.write(file, content);
    return `${file}=${content}`;
  }

  /** Outside of the project, so that nothing in it changes. */
  #breakSomething(): string[] {
    if (!this.random.chance(0.4)) return [];
    const flag = `fail-${this.random.pick(this.#steps).id}`;
    this.#rig.write(`../${flag}`, '');
    return [flag];
  }

  #flow(): object {
    return { name: 'walk', phases: this.#steps.map((step) => phaseOfStep(step, this.#seed)) };
  }

  async #randomRun(): Promise<string> {
    const { random } = this;
    const id = random.pick(this.#steps).id;
    const last = this.#unedited;
    const choice = random.below(12);
    if (choice === 0) return this.#killed(id);
    if (choice === 1) return this.#two();
    const options: Record<number, [string, RigOptions] | undefined> = {
      2: [`--rerun ${id}`, { selection: { rerun: [id] } }],
      3: ['--fresh', { continuation: { how: 'fresh' } }],
      4: ['--no-cache', { reuse: 'off' }],
      5: ['--refresh', { reuse: 'refresh' }],
      6: ['--iterate', { continuation: { how: 'auto', finished: true } }],
      ...(last && { 7: ['--resume', { continuation: { how: 'resume', runId: last.runId } }] }),
      ...(last?.status === 'success' && { 8: [`--from ${id}`, { selection: { from: id } }] }),
    };
    const [name, given] = options[choice] ?? ['run', {}];
    const result = await this.#rig.run(this.#flow(), given);
    this.#compare(result);
    if (given.selection?.from === undefined) this.#unedited = result;
    return `${name} (${result.status})`;
  }

  /** Whatever was reused, what a run says and leaves behind is what a run of everything would. */
  #compare({ phases }: RunResult): void {
    const expected = simulate(this.#steps, this.#files);
    for (const { id, status, output, cacheHit, reason } of phases) {
      if (status !== 'done') continue;
      if (cacheHit) this.reused += 1;
      const { said, wrote } = expected.get(id)!;
      expect({ id, output, reason }).toEqual({ id, output: said, reason });
      expect({ id, reason, wrote: this.#rig.read(written(id)) }).toEqual({ id, reason, wrote });
    }
  }

  async #killed(id: string): Promise<string> {
    this.#rig.write(`../slow-${id}`, '');
    rmSync(join(this.#rig.root, '../log'), { force: true });
    const child = this.#spawn();
    const began = () => existsSync(this.#log()) && readFileSync(this.#log(), 'utf8').split('\n').includes(id);
    let over = false;
    child.once('exit', () => {
      over = true;
    });
    await until(() => over || began(), 20_000);
    const ended = over ? undefined : new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    rmSync(join(this.#rig.root, `../slow-${id}`));
    this.#unedited = undefined;
    return over ? `slow ${id} (over)` : `kill -9 in ${id}`;
  }

  /** Both want to go on with the same run; one of them does. */
  async #two(): Promise<string> {
    const both = [this.#spawn(), this.#spawn()];
    const results = await Promise.all(both.map(outputOf));
    for (const text of results) this.#compare(JSON.parse(text) as RunResult);
    this.#unedited = undefined;
    return 'two at once';
  }

  #log(): string {
    return join(this.#rig.root, '../log');
  }

  #spawn() {
    const { root } = this.#rig;
    this.#rig.write('flow.json', JSON.stringify(this.#flow(), null, 2));
    const env = cliEnvironment(root, { HOME: join(root, '../home') }) as NodeJS.ProcessEnv;
    return spawn(process.execPath, [CLI, 'run', './flow.json', '--json'], { cwd: root, env });
  }
}

function outputOf(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    child.once('close', () => resolve(text));
  });
}

describe('a run that goes on with another, by itself or because it is told to', () => {
  it(`never serves what is older than what it reads (${SEQUENCES} walks)`, async () => {
    let reused = 0;
    for (let seed = 1; seed <= SEQUENCES; seed++) {
      const walk = new Walk(randomFrom(seed * 7919));
      const told: string[] = [];
      try {
        for (let step = 0; step < STEPS_EACH; step++) told.push(await walk.step());
      } catch (error) {
        throw new Error(`seed ${seed} after ${JSON.stringify(told, null, 1)}`, { cause: error });
      } finally {
        reused += walk.reused;
        walk.remove();
      }
    }
    // A walk in which nothing is ever reused would prove nothing.
    expect(reused).toBeGreaterThan(SEQUENCES * STEPS_EACH * 0.3);
  }, 1_800_000);
});

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssembledRecord } from '../../src/assemble/record.js';
import { shareCompiledCode } from '../support/clean-environment.js';
import { type CliResult, runCli } from '../support/cli.js';
import { type LiveCli, startCli } from '../support/live-cli.js';
import { createRig, type Rig } from '../support/rig.js';

/** What the planner answers when it is asked for the nth time. */
export interface Answer {
  /** A value is a flow in JSON; a text is said as it is. */
  readonly says: unknown;
  readonly sleepMs?: number;
  readonly usd?: number;
  /** The client fails instead. */
  readonly fails?: boolean;
  /** The provider's usage limit is reached, and is reset so many ms later. */
  readonly limitMs?: number;
}

/**
 * A project with a planner that is a real program: it notes each call (`plan`, `judge`, or the `NAME:` of a task) in a
 * log outside the project and answers from a script. Tasks answer their `SAY:` line, those with `SLEEP` never, those
 * with `LIMIT` meet a usage limit.
 */
export interface PlanRig extends Rig {
  answers(...answers: readonly (Answer | object | string)[]): void;
  /** `taskflow assemble` with the standard request. */
  assemble(...more: string[]): Promise<CliResult>;
  taskflow(...args: string[]): Promise<CliResult>;
  /** Starts the same and does not wait. */
  spawnAssemble(...more: string[]): LiveCli;
  records(): AssembledRecord[];
  /** From now on tasks with a line `SLEEP` or `LIMIT` answer at once. */
  wake(): void;
  /** Prompts that the planner has got. */
  prompts(): string[];
}

export const INPUT = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
export const OUTPUT = { type: 'object', properties: { loud: { type: 'string' } }, required: ['loud'] };
export const EXAMPLE = { input: { word: 'abc' }, output: { loud: 'ABC' } };

/** A flow whose one task answers with this. */
export const saying = (value: unknown, more: object = {}) => ({
  phases: [{ id: 'shout', task: `NAME: shout\nSAY: ${JSON.stringify(value)}`, output: 'json', ...more }],
});
/** Right for any word: the agent shouts it. */
export const GOOD = { phases: [{ id: 'shout', task: 'NAME: shout\nSHOUT: {args.word}', output: 'json' }] };
export const WRONG = saying({ loud: 'nothing' });
export const UNCHECKED = {
  phases: [
    { id: 'a', task: 'x', dependsOn: ['gone'] },
    { id: 'b', tusk: 'y' },
  ],
};

export const TASK = 'Say a word loudly';
const FILES = ['--input', 'in.json', '--output', 'out.json', '--example', 'case1.json'];
/** The standard request on a command line. */
export const ASSEMBLE = ['assemble', TASK, ...FILES];

export function createPlanRig(): PlanRig {
  const rig = createRig();
  const base = join(rig.root, '..');
  const script = join(base, 'script.json');
  const prompts = join(base, 'prompts');
  mkdirSync(prompts);
  writeFileSync(script, '[]');
  rig.write('bin/planner', plannerProgram({ log: join(base, 'log'), script, prompts }), 0o755);
  writeConfig(rig);
  rig.write('in.json', JSON.stringify(INPUT));
  rig.write('out.json', JSON.stringify(OUTPUT));
  rig.write('case1.json', JSON.stringify(EXAMPLE));
  const env = { HOME: join(base, 'home') };
  shareCompiledCode(join(base, 'home/.cache'));
  const taskflow = (...args: string[]) => runCli(args, { cwd: rig.root, env });
  const folder = join(rig.root, '.pi/taskflows/assembled');
  return {
    ...rig,
    answers: (...answers) => {
      const scripted = answers.map((one) => (typeof one === 'object' && 'says' in one ? one : { says: one }));
      writeFileSync(script, JSON.stringify(scripted));
      for (const name of readdirSync(prompts)) rmSync(join(prompts, name));
    },
    taskflow,
    assemble: (...more) => taskflow('assemble', TASK, ...FILES, ...more),
    spawnAssemble: (...more) => startCli(['assemble', TASK, ...FILES, ...more], { cwd: rig.root, env }),
    records: () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => name.endsWith('.json'))
        .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as AssembledRecord)
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)),
    wake: () => writeFileSync(`${script}.awake`, ''),
    prompts: () =>
      readdirSync(prompts)
        .sort((a, b) => Number(a) - Number(b))
        .map((name) => readFileSync(join(prompts, name), 'utf8')),
  };
}

export function writeConfig(rig: Pick<Rig, 'write'>, more = '', format = 'json'): void {
  rig.write(
    '.pi/taskflows/config.yaml',
    `runner: scripted\nrunners:\n  scripted: { command: [bin/planner], format: ${format}, model: m-1 }\n${more}`,
  );
}

function plannerProgram({ log, script, prompts }: { log: string; script: string; prompts: string }): string {
  return `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const prompt = readFileSync(0, 'utf8');
const note = (name) => appendFileSync(${JSON.stringify(log)}, name + '\\n');
const say = (text, usd = 0.01) => {
  const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, usd };
  const answer = { text, stopReason: 'complete', model: 'm-1', usage };
  process.stdout.write(process.argv.includes('--text') ? text : JSON.stringify(answer));
};
const refuse = (resetsAt) => {
  const error = { message: 'enough for now', resetsAt };
  process.stdout.write(JSON.stringify({ error, usage: { inputTokens: 1, usd: 0 } }));
};
if (prompt.includes('Write a flow for the program taskflow')) {
  note('plan');
  const all = JSON.parse(readFileSync(${JSON.stringify(script)}, 'utf8'));
  const index = readdirSync(${JSON.stringify(prompts)}).length;
  writeFileSync(${JSON.stringify(prompts)} + '/' + index, prompt);
  const answer = all[Math.min(index, all.length - 1)];
  const text = typeof answer.says === 'string' ? answer.says : JSON.stringify(answer.says);
  const resetsAt = Date.now() + (answer.limitMs ?? 0);
  setTimeout(() => {
    if (answer.limitMs) { refuse(resetsAt); return; }
    if (answer.fails) { process.stderr.write('the planner is ill\\n'); process.exit(1); }
    say(text, answer.usd);
  }, answer.sleepMs ?? 0);
} else if (prompt.includes('Judge the result')) {
  note('judge');
  const isGood = /"loud":"(ABC|abc)"/.test(prompt.split('The result: ')[1] ?? '');
  say(isGood ? 'fine\\nVERDICT: PASS' : 'bad\\nVERDICT: BLOCK');
} else {
  if (/^SLEEP$/m.test(prompt) && !existsSync(${JSON.stringify(`${script}.awake`)})) setInterval(() => {}, 1000);
  note(/^NAME: (.*)$/m.exec(prompt)?.[1] ?? 'agent');
  if (/^LIMIT$/m.test(prompt) && !existsSync(${JSON.stringify(`${script}.awake`)})) {
    refuse(Date.now() + 3_600_000);
    return;
  }
  const shout = /^SHOUT: (.*)$/m.exec(prompt)?.[1];
  if (shout !== undefined) say(JSON.stringify({ loud: shout.toUpperCase() }));
  else say(/^SAY: (.*)$/m.exec(prompt)?.[1] ?? 'echo');
}
`;
}

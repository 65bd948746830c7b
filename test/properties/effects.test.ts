import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { linesOf, startCli } from '../support/live-cli.js';
import { type Random, randomFrom } from '../support/random.js';
import { createRig, type Rig } from '../support/rig.js';
import { EffectsModel } from './effects-model.js';

const STEPS = Number(process.env['TASKFLOW_STEPS'] ?? 60);
const SEED = Number(process.env['TASKFLOW_SEED'] ?? 7);
const STEPS_PER_FLOW = 15;
const TOPICS = ['red', 'blue'];
const FLAGS = ['--fresh', '--no-cache', '--refresh', '--keep-going', '--iterate'];

/** `act NAME TOPIC TEXT`: a side effect that logs its begin and end. `../fail-NAME`, `../hang-NAME`: it does so. */
const ACT = `#!/bin/sh
log='LOG'; at="$1"; shift
echo "begin $at $1" >> "$log"
if test -e "../hang-$at"; then sleep 5; exit 9; fi
if test -e "../fail-$at"; then echo "fail $at $1" >> "$log"; exit 1; fi
echo "done $at $1" >> "$log"
echo "$2"
`;

/** A phase of the flow and the names under which its side effects are written down; none for a plain one. */
interface Node {
  readonly id: string;
  readonly kind: 'plain' | 'script' | 'map' | 'nested';
  readonly needs: readonly string[];
  readonly quotes: boolean;
  word: string;
}

function namesOf({ id, kind }: Node): string[] {
  if (kind === 'plain') return [];
  return kind === 'map' ? [`${id}-x`, `${id}-y`] : [id];
}

/** As a person names it. */
function selectorOf({ id, kind }: Node): string {
  return kind === 'nested' ? `${id}/act` : id;
}

function phaseOf({ id, kind, needs, quotes, word }: Node): object {
  const text = quotes && needs[0] !== undefined ? `${word} {steps.${needs[0]}.output}` : word;
  const base = { id, dependsOn: needs };
  const act = (name: string, topic: string) => ['bin/act', name, topic, text];
  const once = { idempotent: false };
  switch (kind) {
    case 'plain':
      return { ...base, type: 'script', run: `cat ../word; echo ${word}; test ! -e ../fail-${id}` };
    case 'script':
      return { ...base, ...once, type: 'script', run: act(id, '{args.topic}') };
    case 'map':
      return { ...base, ...once, type: 'map', over: ['x', 'y'], run: act(`${id}-{item}`, '{args.topic}') };
    case 'nested': {
      const run = ['bin/act', id, '{args.topic}', '{args.text}'];
      const def = {
        name: 'inner',
        args: { topic: {}, text: {} },
        phases: [{ id: 'act', type: 'script', run, ...once }],
      };
      return { ...base, type: 'flow', def, with: { topic: '{args.topic}', text } };
    }
  }
}

function drawNodes(random: Random): Node[] {
  const count = 3 + random.below(3);
  return Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    kind: index === 0 ? 'plain' : random.pick(['plain', 'script', 'script', 'map', 'nested'] as const),
    needs: index === 0 ? [] : [`p${random.below(index)}`],
    quotes: random.chance(0.5),
    word: 'w0',
  }));
}

class Trial {
  readonly #models = new Map(TOPICS.map((topic) => [topic, new EffectsModel()]));
  readonly #log: string;
  readonly #nodes: Node[];
  #read = 0;
  #story: string[] = [];

  constructor(
    private readonly rig: Rig,
    private readonly random: Random,
  ) {
    this.#log = join(rig.root, '../effects');
    rig.write('bin/act', ACT.replace('LOG', this.#log), 0o755);
    this.#nodes = drawNodes(random);
    rig.write('../word', 'zero');
  }

  async step(number: number): Promise<void> {
    const { rig, random } = this;
    const acting = this.#nodes.filter(({ kind }) => kind !== 'plain');
    const topic = random.pick(TOPICS);
    const failing = random.chance(0.4) ? random.pick(this.#nodes.flatMap((node) => [node.id, ...namesOf(node)])) : '';
    if (random.chance(0.25)) random.pick(this.#nodes).word = `w${number}`;
    if (random.chance(0.25)) rig.write('../word', `word ${number}`);
    rig.write('.pi/taskflows/ship.json', JSON.stringify(this.#flow()));
    if (failing !== '') rig.write(`../fail-${failing}`, '');
    const hanging = random.chance(0.3) && acting.length > 0 ? random.pick(namesOf(random.pick(acting))) : '';
    if (hanging !== '') rig.write(`../hang-${hanging}`, '');
    const selection = this.#drawSelection(acting);
    const args = ['run', random.pick(['ship', './.pi/taskflows/ship.json']), `topic=${topic}`, ...selection.flags];
    this.#story.push(`${args.join(' ')}${failing && ` (${failing} fails)`}${hanging && ` (killed in ${hanging})`}`);
    const status = await this.#run(args, hanging === '' ? undefined : `begin ${hanging} ${topic}`);
    for (const name of [failing && `fail-${failing}`, hanging && `hang-${hanging}`]) {
      if (name) rmSync(join(rig.root, '..', name), { force: true });
    }
    this.#judge(topic, selection, status);
  }

  #flow(): object {
    return { name: 'ship', args: { topic: {} }, phases: this.#nodes.map(phaseOf) };
  }

  #drawSelection(acting: readonly Node[]): Selected {
    const { random } = this;
    const flags = random.chance(0.4) ? [random.pick(FLAGS)] : [];
    const node = random.pick(acting.length > 0 && random.chance(0.6) ? acting : this.#nodes);
    switch (random.below(6)) {
      case 0:
        return { flags: [...flags, '--rerun', selectorOf(node)], again: namesOf(node), kept: [], whole: true };
      case 1:
        return { flags: [...flags, '--skip', selectorOf(node)], again: [], kept: namesOf(node), whole: true };
      case 2:
        // A part of the flow is run: what went before it is restored.
        return { flags: ['--from', node.id], again: namesOf(node), kept: [], whole: false };
      default:
        return { flags, again: [], kept: [], whole: true };
    }
  }

  /** The exit status; undefined for a run that was killed when the line had appeared. */
  async #run(args: readonly string[], killAt: string | undefined): Promise<number | undefined> {
    const live = startCli(args, { cwd: this.rig.root });
    let ended = false;
    void live.done.then(() => {
      ended = true;
    });
    while (killAt !== undefined && !ended) {
      if (linesOf(this.#log).slice(this.#read).includes(killAt)) live.kill('SIGKILL');
      await pause(5);
    }
    const { status, stderr } = await live.done;
    this.#story.push(`  status ${status}: ${stderr.trim().split('\n').slice(-2).join(' | ')}`);
    return status ?? undefined;
  }

  #judge(topic: string, { again, kept, whole }: Selected, status: number | undefined): void {
    const model = this.#models.get(topic)!;
    const before = model.effects;
    if (!this.#continues()) model.startsAfresh();
    for (const line of linesOf(this.#log).slice(this.#read)) {
      this.#read += 1;
      const [what, name = '', of] = line.split(' ');
      expect(of).toBe(topic);
      const word = again.includes(name);
      const objection = what === 'begin' ? model.objection(name, word) : undefined;
      if (objection !== undefined) throw new Error(`${name} was fired again: ${objection}\n${this.#story.join('\n')}`);
      if (what === 'begin') model.begin(name);
      if (what === 'done') model.done(name);
      if (what === 'fail') model.failed(name);
    }
    if (status !== undefined) for (const name of kept) model.kept(name);
    if (status === 0 && whole) model.succeeded();
    // It stops for a reason: something had begun before.
    if (status === 4 && before.length === 0) throw new Error(`stopped for nothing\n${this.#story.join('\n')}`);
  }

  #continues(): boolean {
    const runs = join(this.rig.root, '.pi/taskflows/runs');
    const newest = readdirSync(runs)
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1);
    const journal = newest === undefined ? '' : readFileSync(join(runs, newest, 'journal.jsonl'), 'utf8');
    return journal.split('\n', 1)[0]!.includes('"continues":"');
  }
}

interface Selected {
  readonly flags: readonly string[];
  /** Side effects that a person wants done again. */
  readonly again: readonly string[];
  readonly kept: readonly string[];
  readonly whole: boolean;
}

const flows = Array.from({ length: Math.ceil(STEPS / STEPS_PER_FLOW) }, (_, index) => SEED * 1_000 + index);

describe('random flows with side effects, failures, kills and edits', () => {
  it.each(flows)('seed %i: nothing is fired twice without a person’s word', { timeout: 240_000 }, async (seed) => {
    const rig = createRig();
    try {
      const trial = new Trial(rig, randomFrom(seed));
      for (let number = 1; number <= STEPS_PER_FLOW; number++) await trial.step(number);
    } finally {
      rig.remove();
    }
  });
});

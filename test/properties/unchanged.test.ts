import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Invocation, Writer } from '../../src/cli/command.js';
import { command } from '../../src/cli/commands/run.js';
import { parseArguments } from '../../src/cli/flags.js';
import { GLOBAL_FLAGS } from '../../src/cli/global-flags.js';

/**
 * Random edits between runs, against a model that knows nothing of sheets: a phase runs if and only if nothing with its
 * command, its input, its argument and what is above it has been kept. The clock is ahead of the files by longer than
 * figures need to be trusted, so that every answer that can come from figures does.
 */
const AHEAD_MS = 10_000;
/** Longer than a tick of the clock that stamps files. */
const TICK_MS = 12;
const IDS = ['a', 'b', 'c', 'd'] as const;
const NEEDS: Record<string, readonly string[]> = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] };
type Id = (typeof IDS)[number];
const QUOTES: Record<string, readonly string[]> = { a: [], b: [], c: [], d: ['{steps.b.output}', '{steps.c.output}'] };

const id = fc.constantFrom(...IDS);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('run' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('write' as const), id, text: fc.constantFrom('x', 'y', 'zz') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('touch' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('command' as const), id, text: fc.constantFrom('1', '2') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('argument' as const), text: fc.constantFrom('p', 'q') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refresh' as const) }) },
);

const RUN = { do: 'run' } as const;

test('a run answered from a sheet comes to what the engine would have come to', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      const world = new World();
      try {
        for (const one of [RUN, RUN, ...steps.flatMap((each) => [each, RUN]), RUN]) {
          if (one.do === 'run' || one.do === 'refresh') answered += await world.run(one.do === 'refresh');
          else world.change(one);
          await sleep(TICK_MS);
        }
      } finally {
        rmSync(world.root, { recursive: true, force: true });
      }
    }),
    { numRuns: 25 },
  );
  // Without this the test could pass without a single sheet.
  expect(answered).toBeGreaterThan(25);
}, 120_000);

type Change = Exclude<typeof step extends fc.Arbitrary<infer S> ? S : never, { do: 'run' | 'refresh' }>;

class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'taskflow-unchanged-')));
  readonly #inputs = new Map<string, string>(IDS.map((name) => [name, 'x']));
  readonly #commands = new Map<string, string>(IDS.map((name) => [name, '1']));
  #argument = 'p';
  /** The model's store: what each phase was made from, and where the entry is. */
  readonly #kept = new Set<string>();

  constructor() {
    mkdirSync(join(this.root, '.pi'));
    for (const name of IDS) this.#write(`in/${name}`, 'x');
    this.#write('work.sh', 'echo "$1" >> log; cat "in/$1" 2>/dev/null; echo "[$2|$3|$4|$5]"\n');
    this.#writeFlow();
  }

  change(change: Change): void {
    switch (change.do) {
      case 'write':
        this.#inputs.set(change.id, change.text);
        this.#write(`in/${change.id}`, change.text);
        return;
      case 'remove':
        this.#inputs.delete(change.id);
        rmSync(join(this.root, 'in', change.id), { force: true });
        return;
      case 'touch': {
        const path = join(this.root, 'in', change.id);
        if (existsSync(path)) utimesSync(path, new Date(), new Date(Date.now() - 5_000));
        return;
      }
      case 'forget':
        this.#forget(change.id);
        return;
      case 'command':
        this.#commands.set(change.id, change.text);
        this.#writeFlow();
        return;
      case 'argument':
        this.#argument = change.text;
    }
  }

  /** Returns 1 if no engine was needed. */
  async run(refresh: boolean): Promise<number> {
    const made = new Map<string, string>();
    for (const name of IDS) made.set(name, this.#madeFrom(name, made));
    const expected = IDS.filter((name) => refresh || !this.#kept.has(made.get(name)!));
    for (const from of made.values()) this.#kept.add(from);

    rmSync(join(this.root, 'log'), { force: true });
    const { status, output, text } = await this.#taskflow(refresh ? ['--refresh'] : []);
    const log = existsSync(join(this.root, 'log')) ? readFileSync(join(this.root, 'log'), 'utf8') : '';
    expect({ status, executed: log.split('\n').filter(Boolean).sort(), output }).toEqual({
      status: 0,
      executed: expected,
      output: `${this.#output('d')}\n`,
    });
    expect(text.match(/CACHED/g)?.length ?? 0).toBe(IDS.length - expected.length);
    return this.#wasAnswered() ? 1 : 0;
  }

  /** An engine says in the journal when its process began. */
  #wasAnswered(): boolean {
    const runs = join(this.root, '.pi/taskflows/runs');
    const last = readdirSync(runs)
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1)!;
    const [line] = readFileSync(join(runs, last, 'journal.jsonl'), 'utf8').split('\n', 1);
    return (JSON.parse(line!) as { owner: { startTicks?: number } }).owner.startTicks === undefined;
  }

  /** What the last phase quotes decides it by what it says, what the others follow by what it was made from. */
  #madeFrom(name: Id, made: ReadonlyMap<string, string>): string {
    const above = NEEDS[name]!.map((need) => (name === 'd' ? this.#output(need as Id) : made.get(need)));
    return JSON.stringify([name, this.#inputs.get(name) ?? null, this.#commands.get(name), this.#argument, above]);
  }

  #output(name: Id): string {
    const quoted = name === 'd' ? NEEDS[name]!.map((need) => this.#output(need as Id)) : ['', ''];
    const said = [this.#commands.get(name), this.#argument, ...quoted];
    return `${this.#inputs.get(name) ?? ''}[${said.join('|')}]`;
  }

  /** Takes every entry of a phase out of the store. */
  #forget(name: Id): void {
    const cache = join(this.root, '.pi/taskflows/cache');
    if (!existsSync(cache)) return;
    for (const file of readdirSync(cache).filter((entry) => /^[0-9a-f]{64}\.json$/.test(entry))) {
      const entry = JSON.parse(readFileSync(join(cache, file), 'utf8')) as { phase: string };
      if (entry.phase === name) rmSync(join(cache, file));
    }
    for (const from of [...this.#kept]) if (from.startsWith(`["${name}"`)) this.#kept.delete(from);
  }

  async #taskflow(flags: readonly string[]): Promise<{ status: number; output: string; text: string }> {
    const parsed = parseArguments(
      ['./flow.json', `who=${this.#argument}`, ...flags],
      [...command.flags, ...GLOBAL_FLAGS],
    );
    if ('problem' in parsed) throw new Error(parsed.problem.message);
    const [out, err] = [capture(), capture()];
    const clock = { now: () => Date.now() + AHEAD_MS, elapsed: () => performance.now() };
    const invocation: Invocation = {
      command: 'run',
      ...parsed,
      project: { root: this.root, home: join(this.root, 'home'), env: { PATH: process.env['PATH'] }, clock },
      cwd: this.root,
      out,
      err,
      stdin: { isTerminal: false, readAll: () => Buffer.alloc(0) },
    };
    return { status: await command.run(invocation), output: out.text(), text: err.text() };
  }

  #writeFlow(): void {
    const phases = IDS.map((name) => ({
      id: name,
      type: 'script',
      run: ['sh', 'work.sh', name, this.#commands.get(name), '{args.who}', ...QUOTES[name]!],
      dependsOn: NEEDS[name],
      cache: { scope: 'cross-run', fingerprint: [`file:in/${name}`] },
    }));
    this.#write('flow.json', JSON.stringify({ name: 'demo', args: { who: { default: 'p' } }, phases }));
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }
}

function capture(): Writer & { text(): string } {
  let text = '';
  return {
    write: (more) => {
      text += more;
    },
    text: () => text,
    isTerminal: false,
    isLive: false,
    color: false,
    columns: 80,
    rows: 24,
    onResize: () => () => {},
  };
}

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { effort } from '../support/effort.js';
import { createUnchangedProject, type UnchangedProject } from '../support/unchanged-project.js';

const FILES = ['a.txt', 'b.txt', 'lib/c.txt'];

/** What happens between two runs. Most of the time nothing does. */
const editArbitrary = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: 'nothing' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('file' as const),
      file: fc.constantFrom(...FILES),
      text: fc.constantFrom('1', '2', ''),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('word' as const), word: fc.constantFrom('u', 'v') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('settings' as const), slots: fc.constantFrom(2, 3) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('entry' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('variable' as const), value: fc.constantFrom('x', 'y') }) },
);
type Edit = typeof editArbitrary extends fc.Arbitrary<infer E> ? E : never;

interface State {
  word: string;
  variable: string;
}

/** The second phase fails where its file is empty: then there is a run to continue. */
const flowOf = ({ word }: State) => {
  const script = (id: string, does: string, input: string) =>
    `  - {id: ${id}, type: script, run: [sh, -c, 'echo ${id} >> log; ${does}'],
    cache: {scope: cross-run, fingerprint: ['${input}']}}`;
  return `name: random
defaults: {cache: {observe: {exclude: [log]}}}
phases:
${script('p', 'cat a.txt', 'file:a.txt')}
${script('q', 'test -s b.txt && cat b.txt', 'file:b.txt')}
${script('r', 'cat lib/*', 'glob:lib/**')}
  - id: s
    type: script
    run: [sh, -c, 'echo s >> log; echo "$@"', ${word}, '{steps.p.output}', '{steps.q.output}']
    dependsOn: [r]
    cache: {scope: cross-run}
`;
};

function apply(project: UnchangedProject, edit: Edit, state: State): void {
  if (edit.type === 'file') project.write(edit.file, edit.text);
  if (edit.type === 'word') project.write('flow.yaml', flowOf(Object.assign(state, { word: edit.word })));
  if (edit.type === 'settings') project.write('.pi/taskflows/config.yaml', `concurrency: ${edit.slots}\n`);
  if (edit.type === 'variable') state.variable = edit.value;
  if (edit.type === 'entry') {
    const cache = join(project.root, '.pi/taskflows/cache');
    const entries = readdirSync(cache).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
    // The same one on both sides: entries are named by their keys.
    if (entries.length > 0) rmSync(join(cache, entries.sort()[edit.at % entries.length]!));
  }
}

/** All that a run says, but for times. */
async function answer(project: UnchangedProject, { variable }: State) {
  const { status, stdout } = await project.run(['--json'], { VARIABLE: variable });
  const { phases, ...result } = JSON.parse(stdout) as Record<string, unknown> & { phases: Record<string, unknown>[] };
  return {
    status,
    executions: project.executions(),
    result: { output: result['output'], reuse: result['reuse'], status: result['status'], error: result['error'] },
    continues: result['continues'] !== undefined,
    phases: phases
      .map(({ id, status: is, cacheHit, key, output }) => ({ id, is, cacheHit, key, output }))
      .sort((a, b) => String(a.id).localeCompare(String(b.id))),
  };
}

it('random edits: runs with snapshots say what runs without them say', {
  timeout: effort(180_000, 900_000),
}, async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(editArbitrary, { minLength: 5, maxLength: effort(7, 15) }), async (edits) => {
      const states = [0, 1].map((): State => ({ word: 'u', variable: 'x' }));
      const files = { 'flow.yaml': flowOf(states[0]!), 'a.txt': '1', 'b.txt': '1', 'lib/c.txt': '1' };
      const [withThem, without] = [createUnchangedProject(files), createUnchangedProject(files)];
      try {
        for (const edit of [{ type: 'nothing' as const }, ...edits]) {
          apply(withThem, edit, states[0]!);
          apply(without, edit, states[1]!);
          if (withThem.isAnswered([], { VARIABLE: states[0]!.variable })) answered += 1;
          without.forgetDerived();
          expect(await answer(withThem, states[0]!)).toEqual(await answer(without, states[1]!));
        }
      } finally {
        withThem.remove();
        without.remove();
      }
    }),
    { numRuns: effort(3, 40) },
  );
  expect(answered).toBeGreaterThan(0);
});

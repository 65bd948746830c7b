import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { CASES, TREE } from '../support/glob-cases.js';

/** What users run is the bundle: a library that was bundled wrongly passes every test of the sources. */
let p: TestProject;
let phases: readonly { readonly id: string; readonly status: string; readonly output: string }[];
beforeAll(async () => {
  p = createTestProject(Object.fromEntries(TREE.map((path) => [path, path])));
  p.write('.pi/taskflows/config.yaml', 'runner: echo\nrunners:\n  echo: { command: [cat], format: text, model: m }\n');
  const all = CASES.flatMap(([pattern], i) => [
    { id: `context-${i}`, type: 'agent', task: 'x', context: [pattern] },
    { id: `glob-${i}`, type: 'script', run: ['echo'], cache: { scope: 'cross-run', fingerprint: [`glob:${pattern}`] } },
    { id: `outputs-${i}`, type: 'script', run: ['echo'], outputs: [pattern], cache: { scope: 'cross-run' } },
  ]);
  p.write('flow.json', JSON.stringify({ name: 'globs', phases: all }));
  const { stdout, status } = await p.run(['run', './flow.json', '--json']);
  expect(status).toBe(0);
  phases = JSON.parse(stdout).phases;
}, 120_000);
afterAll(() => p.remove());

interface Entry {
  readonly phaseId: string;
  readonly files?: readonly { readonly path: string }[];
  readonly identity: unknown;
}

function entryOf(phase: string): Entry {
  const folder = join(p.root, '.pi/taskflows/cache');
  const entries = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  const parsed = entries.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  return parsed.find((entry) => entry.phaseId === phase || entry.phase === phase);
}

test.each(CASES.map(([pattern, meant], i) => ({ pattern, meant, i })))('$pattern', async ({ meant, i }) => {
  const text = phases.find(({ id }) => id === `context-${i}`)!.output;
  expect([...text.matchAll(/<file path=("[^\n]+")>/g)].map(([, name]) => JSON.parse(name!))).toEqual(meant);
  expect(entryOf(`outputs-${i}`).files?.map(({ path }) => path) ?? []).toEqual(meant);
  const [fingerprint] = (entryOf(`glob-${i}`).identity as { fingerprints: { parts?: object }[] }).fingerprints;
  expect(Object.keys(fingerprint?.parts ?? {}).sort()).toEqual(meant);
});

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkFlowText } from '../../src/check/check-flow.js';
import { diskWorld } from '../../src/check/world.js';
import type { Flow, Phase } from '../../src/model/flow.js';
import { systemClock } from '../../src/util/clock.js';
import type { Project } from '../../src/util/project.js';

/** A project of its own on disk, with these files. Names that start with `~/` go to its user's home folder. */
export function makeProject(files: Readonly<Record<string, string>> = {}): Project {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'taskflow-check-')));
  const project = { root: join(base, 'project'), home: join(base, 'home'), env: {}, clock: systemClock };
  mkdirSync(project.root);
  mkdirSync(project.home);
  for (const [name, text] of Object.entries(files)) writeIn(project, name, text);
  return project;
}

export function writeIn(project: Project, name: string, text: string): void {
  const path = name.startsWith('~/') ? join(project.home, name.slice(2)) : join(project.root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The checked flow of a value; throws with the diagnostics if there are errors. */
export async function checked(value: unknown, project: Project = makeProject()): Promise<Flow> {
  const { flow, diagnostics } = await check(value, project);
  if (!flow) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return flow;
}

export async function check(value: unknown, project: Project = makeProject()) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const file = typeof value === 'string' ? 'flow.yaml' : 'flow.json';
  return checkFlowText({ file, text, world: diskWorld(project) });
}

export async function phaseOf(flow: Flow | Promise<Flow>, id: string): Promise<Phase> {
  const found = (await flow).phases.find((phase) => phase.id === id);
  if (!found) throw new Error(`no phase ${id}`);
  return found;
}

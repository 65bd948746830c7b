import { findAgent } from '../agent/agent-files.js';
import { resolveRunner } from '../agent/resolve-runner.js';
import { findFlow } from '../check/find-flow.js';
import { loadFlow } from '../check/load-flow.js';
import type { Config } from '../model/config.js';
import type { AgentScope, Flow } from '../model/flow.js';
import { LARGEST_FILE } from '../parse/decode.js';
import { insideOf, tasksOf } from '../run/core/held-budget.js';
import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';
import type { Project } from '../util/project.js';
import { readBounded } from '../util/read-bounded.js';

/** What a flow uses, by name, with a digest of each content; `gone` for one that does not exist. */
export interface Uses {
  /** `reviewer`, or `reviewer@user` in a flow that takes agents from one place only. */
  readonly agents: Digests;
  /** The empty name is the project's default runner. */
  readonly runners: Digests;
  readonly flows: Digests;
}

type Digests = Readonly<Record<string, string>>;
type UsedNames = { readonly [group in keyof Uses]: Iterable<string> };

export interface UsesWorld {
  readonly project: Project;
  readonly config: Config;
}

const GONE = 'gone';

/** At any depth: agents, runners and saved flows that decide what the flow does. */
export async function usesOf(flow: Flow, world: UsesWorld): Promise<Uses> {
  const agents = new Set<string>();
  const runners = new Set<string>();
  const flows = new Set<string>();
  const open: Flow[] = [flow];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const phase of next.phases) {
      for (const { agent, runner } of tasksOf(phase)) {
        if (agent !== undefined) agents.add(next.agentScope === 'both' ? agent : `${agent}@${next.agentScope}`);
        runners.add(runner ?? next.runner ?? '');
      }
      const inside = insideOf(phase);
      if (typeof inside === 'object') open.push(inside);
      if (typeof inside !== 'string' || inside.includes('{') || flows.has(inside)) continue;
      flows.add(inside);
      const loaded = await loadFlow(world.project, inside);
      if ('flow' in loaded) open.push(loaded.flow);
    }
  }
  return currentUses({ agents, runners, flows }, world);
}

/** Describes what has changed since. */
export async function changedUses(uses: Uses, world: UsesWorld): Promise<readonly string[]> {
  const [agents, runners, flows] = [Object.keys(uses.agents), Object.keys(uses.runners), Object.keys(uses.flows)];
  const now = await currentUses({ agents, runners, flows }, world);
  return [
    ...differences('agent', uses.agents, now.agents),
    ...differences('runner', uses.runners, now.runners),
    ...differences('flow', uses.flows, now.flows),
  ];
}

function differences(what: string, before: Digests, now: Digests): string[] {
  return Object.entries(before).flatMap(([name, digest]) => {
    const current = now[name] ?? GONE;
    if (current === digest) return [];
    return [`${what} ${name === '' ? '(default)' : name} ${current === GONE ? 'is gone' : 'changed'}`];
  });
}

async function currentUses({ agents, runners, flows }: UsedNames, world: UsesWorld): Promise<Uses> {
  return {
    agents: await digestsOf(agents, (name) => agentDigest(name, world)),
    runners: await digestsOf(runners, (name) => runnerDigest(name, world)),
    flows: await digestsOf(flows, (ref) => flowDigest(ref, world)),
  };
}

async function digestsOf(
  names: Iterable<string>,
  digest: (name: string) => string | Promise<string>,
): Promise<Digests> {
  return Object.fromEntries(await Promise.all([...names].map(async (name) => [name, await digest(name)])));
}

function agentDigest(written: string, { project }: UsesWorld): string {
  const [name = '', scope = 'both'] = written.split('@');
  const found = findAgent(project, name, { scope: scope as AgentScope });
  if ('problem' in found) return GONE;
  const { path: _path, description: _description, ...says } = found.agent;
  return digestOf(says);
}

/** Digest of its settings and of the default model. */
async function runnerDigest(name: string, { project, config }: UsesWorld): Promise<string> {
  const found = await resolveRunner({ project, config, phaseRunner: name === '' ? undefined : name });
  if ('failure' in found) return GONE;
  const { runner } = found;
  return digestOf([runner.name, runner.type, runner.settings, config.model ?? runner.defaultModel ?? null]);
}

function flowDigest(ref: string, { project }: UsesWorld): string {
  const found = findFlow(project, ref, { read: (path) => readBounded(path, LARGEST_FILE), names: () => [] });
  return 'missing' in found ? GONE : sha256Hex(found.bytes);
}

function digestOf(value: unknown): string {
  return sha256Hex(canonicalEncode(value));
}

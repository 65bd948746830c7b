import type { Flow, Phase } from '../model/flow.js';
import { mayBeCrossRun } from '../model/kind.js';

/**
 * The flow that a `use` names; undefined for a placeholder, which only the run knows, and for a flow that cannot be
 * loaded.
 */
type ResolveUse = (use: string) => Flow | undefined;

const DEEPEST = 20;

/**
 * Why a phase that contains this flow may not be reused across runs: a gate or an approval decides about one run, and a
 * phase that is not idempotent or never reused must execute. Looks into nested flows at any depth; undefined: it may be
 * reused. The check calls it for written flows, the run for generated ones.
 */
export function crossRunObstacle(flow: Flow, resolve: ResolveUse, depth = 0): string | undefined {
  for (const phase of flow.phases) {
    const where = `"${phase.id}" of the flow "${flow.name}"`;
    if (!mayBeCrossRun(phase.kind)) return `the ${phase.kind} ${where}`;
    if (!phase.idempotent) return `${where}, which is not idempotent`;
    if (phase.cache.scope === 'off') return `${where}, which is never reused`;
    if (depth >= DEEPEST) return `${where}, which is nested too deep to look at`;
    for (const nested of nestedFlows(phase, resolve)) {
      const obstacle = crossRunObstacle(nested, resolve, depth + 1);
      if (obstacle) return obstacle;
    }
  }
  return undefined;
}

/** The shortest time to live inside a flow, whose result may not be kept longer than its parts. */
export function innerTtlMs(flow: Flow, resolve: ResolveUse, depth = 0): number | undefined {
  let shortest: number | undefined;
  for (const phase of flow.phases) {
    const inner =
      depth < DEEPEST ? nestedFlows(phase, resolve).map((nested) => innerTtlMs(nested, resolve, depth + 1)) : [];
    for (const ttl of [phase.cache.ttlMs, ...inner]) {
      if (ttl !== undefined && (shortest === undefined || ttl < shortest)) shortest = ttl;
    }
  }
  return shortest;
}

/** Whether a phase or a fingerprint, at any depth, starts a process, which a generated flow must not. */
export function executesCommand(flow: Flow, resolve: ResolveUse, depth = 0): boolean {
  return flow.phases.some(
    (phase) =>
      hasCommand(phase) ||
      (depth < DEEPEST && nestedFlows(phase, resolve).some((nested) => executesCommand(nested, resolve, depth + 1))),
  );
}

function hasCommand(phase: Phase): boolean {
  if (phase.kind === 'script') return true;
  if (phase.cache.fingerprint.some((entry) => entry.startsWith('cmd:'))) return true;
  if (phase.kind === 'map') return phase.body.type === 'run';
  return 'branches' in phase && phase.branches.some(({ body }) => body.type === 'run');
}

/** The nested flows of a phase that are known before the run. */
export function nestedFlows(phase: Phase, resolve: ResolveUse): readonly Flow[] {
  const use = phase.kind === 'map' && phase.body.type === 'use' ? phase.body.use : undefined;
  const source = phase.kind === 'flow' || phase.kind === 'expand' ? phase.source : undefined;
  if (source?.from === 'inline') return [source.flow];
  const name = source?.from === 'use' ? source.use : use;
  const flow = name === undefined || name.includes('{') ? undefined : resolve(name);
  return flow ? [flow] : [];
}

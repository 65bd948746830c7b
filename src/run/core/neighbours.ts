import type { Flow } from '../../model/flow.js';

/** All that a phase needs, without itself. */
export function upstreamOf(flow: Flow, id: string): Set<string> {
  const byId = new Map(flow.phases.map((phase) => [phase.id, phase]));
  return reached(id, (current) => byId.get(current)?.needs.map((edge) => edge.id) ?? []);
}

/** A phase and all that follow it. */
export function downstreamOf(flow: Flow, id: string): Set<string> {
  const dependents = new Map<string, string[]>();
  for (const phase of flow.phases) {
    for (const edge of phase.needs) {
      const list = dependents.get(edge.id);
      if (list) list.push(phase.id);
      else dependents.set(edge.id, [phase.id]);
    }
  }
  return reached(id, (current) => dependents.get(current) ?? []).add(id);
}

/** All that can be reached from a phase, without itself. A list of work, since a chain may be ten thousand long. */
function reached(id: string, next: (id: string) => readonly string[]): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const other of next(current)) {
      if (found.has(other)) continue;
      found.add(other);
      open.push(other);
    }
  }
  return found;
}

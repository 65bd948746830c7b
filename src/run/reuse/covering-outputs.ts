import type { Flow, Phase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import { render } from '../render/render.js';
import { bodiesOf } from './nested-identity.js';

/**
 * A placeholder that only an item, or the flow inside, can fill. It matches one name of a path, but none with a dot in
 * front (`.github`, `.husky`): such names decide what is executed.
 */
const PLACEHOLDER = /\{[A-Za-z_][\w.[\]-]*\}/g;

/**
 * The files that a reused result may write: the globs that the phase and the flows inside it declare now. A generated
 * flow declares nothing here: its phase is entered, and its own phases restore their files.
 */
export async function coveringOutputs(at: PhaseContext): Promise<readonly string[]> {
  const own = at.phase.outputs.map((pattern) => {
    const rendered = render(at, pattern);
    return rendered.unresolved.length === 0 ? rendered.text : anyName(pattern);
  });
  const found = new Set(own);
  await visitUses(at, at.phase, { found, seen: new Set() });
  return [...found];
}

export function anyName(pattern: string): string {
  return pattern.replaceAll(PLACEHOLDER, (_, at: number) => (/(?:^|\/)$/.test(pattern.slice(0, at)) ? '[!.]*' : '*'));
}

interface Visit {
  readonly found: Set<string>;
  readonly seen: Set<string>;
}

async function visitFlow(at: PhaseContext, flow: Flow, visit: Visit): Promise<void> {
  for (const phase of flow.phases) {
    for (const pattern of phase.outputs) visit.found.add(anyName(pattern));
    await visitUses(at, phase, visit);
  }
}

async function visitUses(at: PhaseContext, phase: Phase, visit: Visit): Promise<void> {
  for (const body of bodiesOf(phase)) if (body.type === 'use') await visitUse(at, body.use, visit);
  if (phase.kind !== 'flow' && phase.kind !== 'expand') return;
  if (phase.source.from === 'use') await visitUse(at, phase.source.use, visit);
  else if (phase.source.from === 'inline') await visitFlow(at, phase.source.flow, visit);
}

async function visitUse(at: PhaseContext, use: string, visit: Visit): Promise<void> {
  const { text: ref, unresolved } = render(at, use);
  if (unresolved.length > 0 || visit.seen.has(ref)) return;
  visit.seen.add(ref);
  const loaded = await at.run.flows.nested.load(ref);
  if (!('failure' in loaded)) await visitFlow(at, loaded.flow, visit);
}

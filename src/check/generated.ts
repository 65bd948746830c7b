import type { Diagnostic } from '../model/diagnostic.js';
import type { Flow } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import { parsedJson } from '../util/if-there.js';
import type { Project } from '../util/project.js';
import type { Surroundings } from './context.js';
import { diskWorld } from './world.js';

interface GeneratedOptions {
  /** The flow in which the definition was made. */
  readonly parent: Flow;
  /** Id of the phase that runs it. */
  readonly phase: string;
  /** How many flows this one is nested in; the parent of a top-level run's phase is 0, so its definition is 1. */
  readonly depth: number;
  /** Arguments that the phase gives it. */
  readonly given?: Readonly<Record<string, JsonValue>>;
  /** `maxNodes` of an `expand`. */
  readonly mostPhases?: number;
  /** As for `diskWorld`. */
  readonly runners?: readonly string[];
  readonly models?: readonly string[];
}

type GeneratedFlow =
  | { readonly flow: Flow }
  /** `source`: the generated text that the diagnostics point into. */
  | { readonly diagnostics: readonly Diagnostic[]; readonly source: string };

/**
 * Checks a definition that a model made at run time: a flow, `{phases}` or a bare list, as a value or as text, perhaps
 * in a Markdown fence or prose. It is untrusted: the stricter rules for generated flows apply.
 */
export async function checkGenerated(
  project: Project,
  value: JsonValue,
  options: GeneratedOptions,
): Promise<GeneratedFlow> {
  const text = typeof value === 'string' ? extractJson(value) : JSON.stringify(value, null, 2);
  const around = surroundings(options);
  const file = `${options.parent.file ?? options.parent.name}#${options.phase}.json`;
  const { checkFlowText } = await import('./check-flow.js');
  const { flow, diagnostics, source } = await checkFlowText({
    file,
    text,
    world: diskWorld(project, options.runners, { models: options.models }),
    trust: 'generated',
    depth: options.depth,
    name: `${options.parent.name}.${options.phase}`,
    inherited: options.parent,
    agentScope: options.parent.agentScope,
    mostPhases: options.mostPhases,
    given: options.given,
    around,
  });
  return flow ? { flow } : { diagnostics: diagnostics.map(inOneLine), source };
}

/** Joins message and hint: both become one line of a failure, which the model may read to repair the definition. */
function inOneLine({ hint, ...diagnostic }: Diagnostic): Diagnostic {
  return hint === undefined ? diagnostic : { ...diagnostic, message: `${diagnostic.message} (${hint})` };
}

/** A grafted fragment sees everything that its phase waited for, which is done when it grows. */
function surroundings({ parent, phase: id }: GeneratedOptions): Surroundings | undefined {
  const byId = new Map(parent.phases.map((phase) => [phase.id, phase]));
  const grows = byId.get(id);
  if (grows?.kind !== 'expand' || grows.mode !== 'graft') return undefined;
  const seen = new Set<string>();
  const pending = grows.needs.map((need) => need.id);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...(byId.get(next)?.needs.map((need) => need.id) ?? []));
  }
  return { seesPhase: (name) => seen.has(name), args: new Set(Object.keys(parent.args)) };
}

const FENCE = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w-]*)[^\n]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*$/gm;

/** The JSON in a model's answer: all of it, the fenced part, or from the first bracket to the last. */
export function extractJson(text: string): string {
  const trimmed = text.trim();
  if (isJson(trimmed)) return trimmed;
  const fenced = [...trimmed.matchAll(FENCE)].map((found) => ({
    tag: found[2]!.toLowerCase(),
    body: found[3]!.trim(),
  }));
  const candidates = [...fenced.filter(({ tag }) => tag.startsWith('json')), ...fenced].map(({ body }) => body);
  const start = trimmed.search(/[[{]/);
  const end = Math.max(trimmed.lastIndexOf(']'), trimmed.lastIndexOf('}'));
  if (start !== -1 && end > start) candidates.push(trimmed.slice(start, end + 1));
  // If none is JSON, the checker reports the problems of the first.
  return candidates.find(isJson) ?? candidates[0] ?? trimmed;
}

function isJson(text: string): boolean {
  return /^[[{]/.test(text) && parsedJson(text) !== undefined;
}

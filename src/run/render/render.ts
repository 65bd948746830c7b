import type { Phase } from '../../model/flow.js';
import type { JsonValue } from '../../model/json.js';
import { StoredOutput } from '../../model/output.js';
import type { PlaceholderRef } from '../../plan/placeholder.js';
import {
  followPath,
  type Lookup,
  parseTemplate,
  type Rendered,
  renderTemplate,
  type Template,
  valueText,
} from '../../plan/template.js';
import { isNoneOfGraft, outcomeOf } from '../core/grafted.js';
import { readJson, readText } from '../core/output-text.js';
import type { Scope, Variables } from '../core/scope.js';
import type { Fence } from './fence.js';

/** Where a text is rendered: enough of a PhaseContext to look things up. */
export interface Site {
  readonly scope: Scope;
  readonly phase: Phase;
}

const templates = new Map<string, Template>();
const MOST_TEMPLATES = 20_000;
const NOTHING: readonly string[] = [];

/** A map parses its task once, not once per item. */
function templateOf(text: string, itemName: string): Template {
  const id = itemName === 'item' ? text : `${itemName} ${text}`;
  let template = templates.get(id);
  if (!template) {
    if (templates.size >= MOST_TEMPLATES) templates.clear();
    template = parseTemplate(text, itemName);
    templates.set(id, template);
  }
  return template;
}

export function render(site: Site, text: string, variables: Variables = {}): Rendered {
  if (!text.includes('{')) return { value: text, text, unresolved: NOTHING };
  return renderTemplate(templateOf(text, itemNameOf(site.phase)), lookupIn(site, variables));
}

/** The same for a judge: what the placeholders stand for is fenced off, as data. */
export function renderFenced(
  site: Site,
  text: string,
  { fence, variables = {} }: { readonly fence: Fence; readonly variables?: Variables | undefined },
): string {
  if (!text.includes('{')) return text;
  const lookup = lookupIn(site, variables);
  return renderTemplate(templateOf(text, itemNameOf(site.phase)), (ref) => {
    const found = lookup(ref);
    if (!found.found || found.value === undefined) return found;
    return { found: true, value: fence.value(valueText(found.value)) };
  }).text;
}

/** Renders every text inside a value; a text that is exactly one placeholder keeps the type of what it stands for. */
export function renderValue(
  site: Site,
  value: JsonValue,
  variables: Variables = {},
): { value: JsonValue; unresolved: readonly string[] } {
  const unresolved: string[] = [];
  const visit = (node: JsonValue): JsonValue => {
    if (typeof node === 'string') {
      if (!node.includes('{')) return node;
      const rendered = render(site, node, variables);
      unresolved.push(...rendered.unresolved);
      return rendered.value;
    }
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, visit(member)]));
  };
  return { value: visit(value), unresolved };
}

export function itemNameOf(phase: Phase): string {
  return phase.kind === 'map' ? phase.as : 'item';
}

/** What each placeholder stands for, at this place. */
export function lookupIn({ scope, phase }: Site, variables: Variables): Lookup {
  return (ref) => {
    switch (ref.root) {
      case 'args':
        return Object.hasOwn(scope.args, ref.name) ? followPath(scope.args[ref.name], ref.path) : { found: false };
      case 'steps':
        return lookupStep(scope, variables, ref);
      case 'item':
        return variables.item ? followPath(variables.item.value, ref.path) : { found: false };
      case 'previous':
        return textFound(previousOutput(scope, phase, variables));
      case 'loop':
        return variables.loop
          ? { found: true, value: variables.loop[ref.name as keyof NonNullable<Variables['loop']>] }
          : { found: false };
      case 'reflexion':
        return { found: true, value: variables.reflexion ?? scope.feedback.get(phase.id) ?? '' };
    }
  };
}

function lookupStep(
  scope: Scope,
  variables: Variables,
  { name: id, part = 'output', path }: PlaceholderRef,
): ReturnType<Lookup> {
  if (variables.self?.id === id) {
    return part === 'output' ? { found: true, value: variables.self.text } : followPath(variables.self.json, path);
  }
  const outcome = outcomeOf(scope, id);
  if (!outcome && isNoneOfGraft(scope, id)) return { found: false };
  // Not settled (a loop's first iteration, `join: any`), skipped or tolerated: empty, and that counts as known.
  if (outcome?.status !== 'done') return { found: true, value: '' };
  const { output } = outcome.result;
  if (part === 'output') {
    if (output instanceof StoredOutput) return textFound(readText(output));
    return output.base64 === undefined
      ? { found: true, value: output.text }
      : { found: true, value: output.text, base64: output.base64 };
  }
  const read = readJson(output);
  return 'failure' in read ? { found: false, failure: read.failure } : followPath(read.json, path);
}

function textFound(read: ReturnType<typeof readText>): ReturnType<Lookup> {
  return 'failure' in read ? { found: false, failure: read.failure } : { found: true, value: read.text };
}

/**
 * The output of the only dependency, or all of them in order. A loop that depends on nothing has its last iteration.
 */
function previousOutput(scope: Scope, phase: Phase, { loop }: Variables): ReturnType<typeof readText> {
  if (loop && phase.needs.length === 0) return { text: loop.lastOutput };
  const texts: string[] = [];
  for (const edge of phase.needs) {
    const outcome = scope.outcomes.get(edge.id);
    const read = outcome?.status === 'done' ? readText(outcome.result.output) : { text: '' };
    if ('failure' in read) return read;
    if (read.text !== '') texts.push(read.text);
  }
  return { text: texts.join('\n\n') };
}

/** The output that a template is, if it is exactly that, and in a file: then nobody needs its text. */
export function storedInput({ scope, phase }: Site, text: string): StoredOutput | undefined {
  const { segments } = templateOf(text, itemNameOf(phase));
  const ref = segments.length === 1 && segments[0]!.type === 'ref' ? segments[0]!.ref : undefined;
  const only = phase.needs.length === 1 ? phase.needs[0]!.id : undefined;
  const isWhole = ref?.root === 'previous' || (ref?.root === 'steps' && (ref.part ?? 'output') === 'output');
  const id = ref?.root === 'previous' ? only : ref?.name;
  const outcome = isWhole && id !== undefined ? outcomeOf(scope, id) : undefined;
  const output = outcome?.status === 'done' ? outcome.result.output : undefined;
  return output instanceof StoredOutput ? output : undefined;
}

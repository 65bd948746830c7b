import type { ArgSpec, Flow, FlowSource } from '../model/flow.js';
import type { JsonValue } from '../model/json.js';
import { convertArg } from '../plan/args.js';
import { parseTemplate, templateRefs } from '../plan/template.js';
import { parsedJson } from '../util/if-there.js';
import { checkAssemble } from './assemble.js';
import { refuseGenerated } from './bodies.js';
import { isFlowPath } from './find-flow.js';
import { leavesProject } from './paths.js';
import { executesCommand } from './permission.js';
import type { PhaseReader } from './phase-reader.js';
import { show } from './structure.js';

const SOURCES = ['use', 'def', 'assemble'];

/** Checks the source of the nested flow of a `flow` or `expand` phase. */
export function checkSource(reader: PhaseReader, given: Readonly<Record<string, JsonValue>>): FlowSource {
  const { raw, kind, id, path, written } = reader.source;
  const { problems } = reader.context;
  const use = raw['use'];
  const def = raw['def'];
  const hint = '"use" names a saved flow, "def" holds one, "assemble" has one made';
  const sources = SOURCES.filter((name) => written.has(name));
  if (kind === 'flow' && sources.length === 0) {
    problems.error(path, 'missing-field', { message: `the flow phase "${id}" needs "use" or "def"`, hint });
  }
  if (kind === 'flow' && sources.length > 1) {
    problems.error(reader.path(sources[1]!), 'bad-value', {
      message: `"${id}" has both "${sources[0]}" and "${sources[1]}"`,
      target: 'key',
      hint,
    });
  }
  if (kind === 'flow' && typeof use === 'string') {
    reader.template(reader.path('use'), use);
    checkUse(reader, use, given);
    return { from: 'use', use };
  }
  if (kind === 'flow' && raw['assemble'] !== undefined && def === undefined) return checkAssemble(reader, given);
  if (typeof def === 'string') return generatedSource(reader, def);
  if (def === undefined) return { from: 'generated', def: '' };
  const mostPhases = kind === 'expand' ? ((raw['maxNodes'] ?? 50) as number) : Number.POSITIVE_INFINITY;
  const around = raw['expandMode'] === 'graft' ? { around: reader.surroundings() } : {};
  const flow = reader.context.checkInline(def, reader.path('def'), { phase: id, given, mostPhases, ...around });
  return flow ? { from: 'inline', flow } : { from: 'generated', def: '' };
}

function generatedSource(reader: PhaseReader, def: string): FlowSource {
  const path = reader.path('def');
  reader.template(path, def);
  if (templateRefs(parseTemplate(def)).length === 0 && parsedJson(def) === undefined) {
    reader.problems.error(path, 'bad-value', {
      message: 'a text in "def" has to be a placeholder whose value is a flow',
      hint: 'for example: "{steps.plan.json}"; a flow that is written here is an object',
    });
  }
  return { from: 'generated', def };
}

/** Checks a saved flow, and whether the arguments fit its declarations. */
export function checkUse(reader: PhaseReader, use: string, given: Readonly<Record<string, JsonValue>>): void {
  const { problems, trust, used } = reader.context;
  const path = reader.path('use');
  if (templateRefs(parseTemplate(use, reader.itemName)).length > 0) {
    if (trust === 'generated') refuseGenerated(reader.problems, path, 'choose the flow that it uses by a placeholder');
    return;
  }
  if (isFlowPath(use) && leavesProject(use)) {
    problems.error(path, 'outside-project', {
      message: 'this path leads out of the project',
      hint: 'paths are relative to the project root',
    });
    return;
  }
  const found = used.get(use);
  if (!found) return;
  if ('problem' in found) {
    problems.error(path, found.circle ? 'flow-circle' : 'unknown-flow', {
      message: found.problem,
      ...(found.hint ? { hint: found.hint } : {}),
      ...(found.known ? { suggest: { name: use, known: found.known } } : {}),
    });
    return;
  }
  checkGivenArgs(reader, found.flow, given);
  if (found.flow.budget && !reader.context.hasBudget) {
    const { name } = found.flow;
    const message = `the budget of "${name}" does not count here: a run has the budget of its outermost flow`;
    problems.warn(path, 'no-effect', { message, hint: 'give this flow a "budget" of its own' });
  }
  const resolve = (name: string) => flowOf(used.get(name));
  if (trust === 'generated' && executesCommand(found.flow, resolve)) {
    refuseGenerated(reader.problems, path, `use "${use}", which executes commands`);
  }
}

function flowOf(found: { readonly flow: Flow } | object | undefined): Flow | undefined {
  return found && 'flow' in found ? found.flow : undefined;
}

function checkGivenArgs(reader: PhaseReader, flow: Flow, given: Readonly<Record<string, JsonValue>>): void {
  const { problems, world } = reader.context;
  for (const [name, value] of Object.entries(given)) {
    const spec = Object.hasOwn(flow.args, name) ? flow.args[name] : undefined;
    const path = reader.path('with', name);
    if (!spec) {
      problems.error(path, 'unknown-arg', {
        message: `the flow "${flow.name}" has no argument ${show(name)}`,
        target: 'key',
        suggest: { name, known: Object.keys(flow.args) },
      });
    } else if (!mentionsPlaceholder(value)) {
      const converted = convertArg(spec, value, { root: world.root, source: 'json' });
      if ('problem' in converted) problems.error(path, 'bad-arg', `the argument "${name}" ${converted.problem}`);
    }
  }
  const { raw, written } = reader.source;
  // `with` was wrong, which is reported, not its missing arguments.
  if (raw['with'] === undefined && written.has('with')) return;
  for (const [name, spec] of Object.entries(flow.args)) {
    if (isMissing(name, spec, given)) {
      problems.error(reader.source.path, 'missing-arg', {
        message: `the flow "${flow.name}" needs the argument "${name}"`,
        hint: `give it in "with"`,
      });
    }
  }
}

function isMissing(name: string, spec: ArgSpec, given: Readonly<Record<string, JsonValue>>): boolean {
  return spec.required && spec.default === undefined && !Object.hasOwn(given, name);
}

function mentionsPlaceholder(value: JsonValue): boolean {
  return JSON.stringify(value).includes('{');
}

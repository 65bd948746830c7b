import type { Path } from '../parse/locate.js';
import { conditionRefs, parseCondition } from '../plan/condition-parse.js';
import type { PlaceholderRef } from '../plan/placeholder.js';
import { parseTemplate, templateRefs } from '../plan/template.js';
import type { CheckContext, PhaseSource, Surroundings } from './context.js';
import { graftedName } from './grafts.js';
import { NearWarnings } from './near-warnings.js';
import type { Problem, Problems } from './problem.js';
import { fieldPath } from './shorthand.js';
import { conditionPatterns, warnIfSlow } from './slow-patterns.js';
import { show } from './structure.js';

/** Where a text is, which decides which placeholders have a value. */
export interface TextScope {
  /** In the body of a map: `{item}`. */
  readonly item?: boolean;
  /** In a loop: `{loop…}`, `{reflexion}` and the loop's own output. */
  readonly loop?: boolean;
}

/**
 * Reads the texts of one phase and collects what they mention: every `{steps.x…}` is an edge. `quoted` phases have
 * their output in a text, not only in a condition.
 */
export class PhaseReader {
  readonly mentioned = new Set<string>();
  readonly quoted = new Set<string>();
  usesPrevious = false;
  usesPlaceholders = false;
  #usesItem = false;
  readonly #previousAt: { path: Path; ref: PlaceholderRef }[] = [];
  readonly #near: NearWarnings;
  readonly itemName: string;

  constructor(
    readonly context: CheckContext,
    readonly source: PhaseSource,
  ) {
    this.itemName = typeof source.raw['as'] === 'string' ? source.raw['as'] : 'item';
    this.#near = new NearWarnings({
      context,
      itemName: this.itemName,
      warn: (path, message, more) => this.#warn({ path, code: 'odd-placeholder', message, ...more }),
    });
  }

  get problems(): Problems {
    return this.context.problems;
  }

  path(field: string, ...rest: Path): Path {
    const path = fieldPath(this.source, field);
    return rest.length === 0 ? path : [...path, ...rest];
  }

  template(path: Path, text: string, scope: TextScope = {}): string {
    if (!text.includes('{')) return text;
    const template = parseTemplate(text, this.itemName);
    for (const ref of templateRefs(template)) {
      this.#ref(path, ref, scope);
      if (ref.root === 'steps' && ref.name !== this.source.id) this.quoted.add(ref.name);
      if (ref.root === 'previous') this.usesPrevious = true;
    }
    for (const { offset, length, message, certain } of template.suspects) {
      if (certain) this.problems.error(path, 'bad-placeholder', { message, span: { offset, length } });
      else this.#warn({ path, code: 'odd-placeholder', message, span: { offset, length } });
    }
    const settled = template.suspects.map(({ offset }) => offset);
    this.#near.text({ path, text, ...scope }, settled);
    return text;
  }

  /** Of the phase's own texts. A phase of unknown kind may be a map or a loop. */
  get ownScope(): TextScope {
    const { kind, unknownKind } = this.source;
    return { item: unknownKind || kind === 'map', loop: unknownKind || kind === 'loop' };
  }

  /** Text that a shell or an interpreter parses. */
  code(path: Path, text: string, advice: (placeholder: string) => string): void {
    if (text.includes('{')) this.#near.code(path, text, advice);
  }

  /** A text from the defaults of the flow: its mentions are edges, too. Its problems are reported at the defaults. */
  inherited(path: Path, text: string): void {
    for (const { root, name, offset, length } of templateRefs(parseTemplate(text, this.itemName))) {
      if (root === 'previous') this.usesPrevious = true;
      if (root !== 'steps' || !this.context.phases.has(name)) continue;
      if (name === this.source.id) {
        this.problems.error(path, 'self-reference', {
          message: `"${name}" cannot wait for its own output`,
          span: { offset, length },
          hint: `give "${name}" a ${fieldName(path)} of its own`,
        });
        continue;
      }
      this.mentioned.add(name);
      this.quoted.add(name);
    }
  }

  /** Every text inside a value. */
  deep<T>(path: Path, value: T, scope: TextScope = {}): T {
    if (typeof value === 'string') this.template(path, value, scope);
    else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const item: unknown = value[index];
        // The list of a map may be long, and most lists hold plain texts.
        if (typeof item === 'object' || (typeof item === 'string' && item.includes('{')))
          this.deep([...path, index], item, scope);
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) this.deep([...path, name], member, scope);
    }
    return value;
  }

  condition(path: Path, text: string, scope: TextScope = {}): string {
    const parsed = parseCondition(text, this.itemName);
    if (parsed.ok) {
      for (const ref of conditionRefs(parsed.condition)) this.#ref(path, ref, scope);
      for (const pattern of conditionPatterns(parsed.condition)) warnIfSlow(this.context.problems, path, pattern);
      this.#near.condition({ path, text, ...scope }, parsed.condition);
      return text;
    }
    const { offset, length, message } = parsed;
    const meant = this.#near.meantAt({ path, text, ...scope }, offset);
    const hint = meant === undefined ? parsed.hint : `did you mean ${meant}?`;
    this.problems.error(path, 'bad-condition', {
      message: `this condition cannot be read: ${message}`,
      span: { offset, length },
      ...(hint ? { hint } : {}),
    });
    return text;
  }

  /** A field without placeholders, except that some may hold the item of a map. */
  literal(path: Path, text: string, { item = false }: TextScope = {}): string {
    const refs = text.includes('{') ? templateRefs(parseTemplate(text, this.itemName)) : [];
    const ref = refs.find(({ root }) => !(item && root === 'item'));
    if (ref) {
      const { offset, length } = ref;
      this.problems.error(path, 'placeholder-here', {
        message: `placeholders do not work in ${fieldName(path)}`,
        span: { offset, length },
      });
    }
    return text;
  }

  /** `model`: the flow's own, which overrides the agent's. */
  agent(path: Path, name: string, model?: unknown): string {
    const { problems, world, agentScope, roles } = this.context;
    const found = world.agent(name, agentScope);
    if ('problem' in found) {
      const hint = name.includes('{') ? { hint: 'placeholders do not work here' } : {};
      problems.error(path, 'unknown-agent', { message: found.problem, ...hint, suggest: { name, known: found.known } });
    }
    if ('found' in found && model === undefined) roles.name(path, found.model, name);
    return name;
  }

  /**
   * The surroundings of a fragment that grows from this phase. Its mentions are this phase's dependencies, but nothing
   * is quoted.
   */
  surroundings(): Surroundings {
    const { phases, args, around } = this.context;
    return {
      args,
      seesPhase: (id) => {
        if (id === this.source.id || !phases.has(id)) return around?.seesPhase(id) ?? false;
        this.mentioned.add(id);
        return true;
      },
    };
  }

  /** Called when all texts are read and the dependencies are known: `{previous.output}` needs one. */
  finish(hasDependencies: boolean): void {
    if (this.source.kind === 'map' && !this.#usesItem) this.#near.unknownWords();
    if (hasDependencies || this.source.kind === 'loop') return;
    for (const { path, ref } of this.#previousAt) {
      const message = `"${this.source.id}" depends on no other phase, so {previous.output} is empty`;
      this.#warn({ path, code: 'no-previous', message, span: spanOf(ref) });
    }
  }

  #ref(path: Path, ref: PlaceholderRef, scope: TextScope): void {
    this.usesPlaceholders = true;
    switch (ref.root) {
      case 'steps':
        this.#step(path, ref, scope);
        return;
      case 'args':
        this.#arg(path, ref);
        return;
      case 'item': {
        this.#usesItem = true;
        const message = `{${ref.text}} has a value only in the body of a map`;
        if (!scope.item) this.#warn({ path, code: 'no-item', message, span: spanOf(ref) });
        return;
      }
      case 'loop':
      case 'reflexion': {
        const message = `{${ref.text}} has a value only in a loop`;
        if (!scope.loop) this.#warn({ path, code: 'no-loop', message, span: spanOf(ref) });
        return;
      }
      case 'previous':
        this.#previousAt.push({ path, ref });
    }
  }

  #step(path: Path, ref: PlaceholderRef, scope: TextScope): void {
    const { problems, phases, outer, around } = this.context;
    const span = spanOf(ref);
    const target = phases.get(ref.name);
    if (!target && around?.seesPhase(ref.name)) return;
    const graft = target ? undefined : graftedName(ref.name, phases);
    if (graft && graft.grows !== this.source.id && graft.known?.includes(ref.name) !== false) {
      this.mentioned.add(graft.grows);
      return;
    }
    if (!target) {
      problems.error(path, 'unknown-step', {
        message: `there is no phase ${show(ref.name)}`,
        span,
        ...(outer.has(ref.name)
          ? { hint: 'a nested flow does not see the phases around it: give it the output in "with"' }
          : { suggest: { name: ref.name, known: [...phases.keys(), ...(graft?.known ?? [])] } }),
      });
      return;
    }
    if (ref.name === this.source.id) {
      if (scope.loop) {
        // The output of a loop's own iteration is JSON only if the loop declares it.
        if (ref.part === 'json' && !target.unknownKind && target.raw['output'] !== 'json') this.#notJson(path, ref);
        return;
      }
      problems.error(path, 'self-reference', { message: `"${ref.name}" cannot wait for its own output`, span });
      return;
    }
    this.mentioned.add(ref.name);
    if (ref.part === 'json' && saysText(target)) this.#notJson(path, ref);
  }

  #notJson(path: Path, ref: PlaceholderRef): void {
    const message = `{${ref.text}} has no value: "${ref.name}" does not say output: json`;
    this.#warn({ path, code: 'not-json', message, span: spanOf(ref) });
  }

  #arg(path: Path, ref: PlaceholderRef): void {
    const { args, mentionedArgs } = this.context;
    mentionedArgs.add(ref.name);
    if (args.has(ref.name)) return;
    const message = `nothing provides the argument ${show(ref.name)}`;
    this.#warn({
      path,
      code: 'unknown-arg',
      message,
      span: spanOf(ref),
      hint: 'declare it in "args"',
      suggest: { name: ref.name, known: args },
    });
  }

  /** Reports an error instead where the flow is strict about placeholders. */
  #warn(problem: Omit<Problem, 'severity'>): void {
    this.problems.add({ ...problem, severity: this.context.strict ? 'error' : 'warning' });
  }
}

function spanOf({ offset, length }: PlaceholderRef): NonNullable<Problem['span']> {
  return { offset, length };
}

/** Whether the output is text of an agent or a program; other kinds make their own JSON. */
function saysText({ kind, unknownKind, raw }: PhaseSource): boolean {
  if (unknownKind) return false;
  const plain = kind === 'agent' || kind === 'script' || kind === 'reduce' || kind === 'loop' || kind === 'race';
  return plain && raw['output'] !== 'json' && raw['expect'] === undefined;
}

function fieldName(path: Path): string {
  const name = path.findLast((step) => typeof step === 'string');
  return name === undefined ? 'this field' : `"${name}"`;
}

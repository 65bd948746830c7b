import { loadFlow } from '../../check/load-flow.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Project } from '../../util/project.js';
import { remembered } from '../../util/remembered.js';
import type { Scope } from '../core/scope.js';

type Loaded = { readonly flow: Flow } | { readonly failure: Failure };

/** The phase that runs the generated flow. */
interface GeneratedFor {
  readonly parent: Scope;
  readonly phase: string;
  /** Arguments for the flow. */
  readonly given: JsonObject;
}

/** The flows that this run's phases use, each read and checked once. */
export class NestedFlows {
  constructor(
    private readonly project: Project,
    /** Names of the runners and model roles that the run's settings define. */
    private readonly defined: { readonly runners: readonly string[]; readonly models: readonly string[] },
  ) {}

  readonly load = remembered(async (ref: string): Promise<Loaded> => {
    const result = await loadFlow(this.project, ref, this.defined);
    if ('diagnostics' in result) return { failure: badFlow(`the flow ${ref} cannot be used`, result.diagnostics) };
    return { flow: result.flow };
  });

  /** Checks a flow that a model made, against the limits for such flows. */
  async generated(value: JsonValue, { parent, phase, given }: GeneratedFor): Promise<Loaded> {
    const depth = parent.generated ? parent.depth + 1 : 1;
    const { checkGenerated } = await import('../../check/generated.js');
    const checked = await checkGenerated(this.project, value, {
      parent: parent.flow,
      phase,
      depth,
      given,
      ...this.defined,
    });
    if ('flow' in checked) return { flow: checked.flow };
    return { failure: badFlow('the generated flow has problems', checked.diagnostics) };
  }
}

function badFlow(what: string, diagnostics: readonly Diagnostic[]): Failure {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const shown = errors.slice(0, 5).map((d) => `${d.file}:${d.line}:${d.column} ${d.message}`);
  const more = errors.length > shown.length ? [`… and ${errors.length - shown.length} more`] : [];
  return {
    code: 'bad-flow',
    message: `${what}: ${errors[0]?.message ?? 'unknown'}`,
    detail: [...shown, ...more].join('\n'),
  };
}

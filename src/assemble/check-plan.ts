import { checkKept } from '../check/load-flow.js';
import type { Config } from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Flow } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import { sha256Hex } from '../util/digest.js';
import type { Project } from '../util/project.js';

interface PlanWorld {
  readonly project: Project;
  readonly config: Config;
  /** Commands are allowed: the flow has to keep only the rules of a written one. */
  readonly allowScripts: boolean;
}

type CheckedPlan = { readonly flow: Flow } | { readonly problems: readonly string[] };

/** The text that is checked, and that line numbers are about. */
export function planText(definition: JsonObject): string {
  return `${JSON.stringify(definition, null, 2)}\n`;
}

/** The flow behind a definition, or everything that is wrong with it. */
export async function checkPlan(definition: JsonObject, world: PlanWorld): Promise<CheckedPlan> {
  const { project, config, allowScripts } = world;
  const bytes = Buffer.from(planText(definition), 'utf8');
  const checked = await checkKept(
    project,
    {
      file: 'assembled.json',
      bytes,
      digest: sha256Hex(bytes),
      ...(!allowScripts && { trust: 'generated' as const }),
    },
    { runners: Object.keys(config.runners), models: Object.keys(config.models) },
  );
  if ('diagnostics' in checked) return { problems: checked.diagnostics.filter(isError).map(inWords) };
  const unknown = unknownArguments(checked.flow);
  return unknown.length > 0 ? { problems: unknown } : { flow: unnamedFile(checked.flow) };
}

/** Drops the file: the flow is in none, and a reference by file must not find another flow. */
function unnamedFile({ file: _file, ...flow }: Flow): Flow {
  return flow;
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function inWords({ line, message, hint }: Diagnostic): string {
  return `line ${line}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
}

/** Arguments that the flow mentions but its input does not declare: no run would give them. */
function unknownArguments({ args }: Flow): string[] {
  return Object.entries(args).flatMap(([name, { untyped }]) =>
    untyped ? [`{args.${name}}: the input schema has no property "${name}"`] : [],
  );
}

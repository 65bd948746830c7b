import type { AssembleSpec, FlowSource } from '../model/flow.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { refuseGenerated } from './bodies.js';
import { checkJsonSchema } from './json-schema.js';
import type { PhaseReader } from './phase-reader.js';
import { show } from './structure.js';

/** Checks a request for a flow: its schemas, and whether `with` fits its input. The run checks the examples. */
export function checkAssemble(reader: PhaseReader, given: Readonly<Record<string, JsonValue>>): FlowSource {
  const { problems, trust } = reader.context;
  if (trust === 'generated') refuseGenerated(reader.problems, reader.path('assemble'), 'have flows assembled');
  const { examples = [], ...written } = reader.source.raw['assemble'] as Omit<AssembleSpec, 'examples'> &
    Partial<AssembleSpec>;
  reader.literal(reader.path('assemble', 'task'), written.task);
  for (const name of ['input', 'output'] as const) {
    checkJsonSchema(written[name], reader.path('assemble', name), problems);
  }
  const { type, properties = {}, required = [] } = written.input;
  if (type !== 'object' || !isJsonObject(properties)) {
    problems.error(reader.path('assemble', 'input'), 'bad-schema', {
      message: 'the input schema has to describe an object: its properties are what "with" gives',
    });
  } else checkGiven(reader, given, { properties, required });
  return { from: 'assemble', assemble: { ...written, examples } };
}

function checkGiven(
  reader: PhaseReader,
  given: Readonly<Record<string, JsonValue>>,
  { properties, required }: { readonly properties: JsonObject; readonly required: JsonValue },
): void {
  const { problems } = reader.context;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(properties, name)) continue;
    problems.error(reader.path('with', name), 'unknown-arg', {
      message: `the input of "assemble" has no property ${show(name)}`,
      target: 'key',
      suggest: { name, known: Object.keys(properties) },
    });
  }
  const { raw, written } = reader.source;
  if (raw['with'] === undefined && written.has('with')) return;
  for (const name of Array.isArray(required) ? required : []) {
    if (Object.hasOwn(given, String(name))) continue;
    problems.error(reader.source.path, 'missing-arg', {
      message: `the input of "assemble" needs ${show(name)}`,
      hint: 'give it in "with"',
    });
  }
}

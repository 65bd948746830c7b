import { checkJsonSchema } from '../check/json-schema.js';
import { Problems } from '../check/problem.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { isForbiddenName } from '../model/names.js';
import { heldTo } from '../run/core/output.js';
import type { AssembleRequest, Example } from './request.js';

export interface RequestProblem {
  readonly message: string;
  readonly hint?: string;
}

/** Everything that is wrong with a request, before anything is spent on it. */
export async function requestProblems(request: AssembleRequest): Promise<readonly RequestProblem[]> {
  const { task, input, output, examples } = request;
  const problems: RequestProblem[] = task.trim() === '' ? [{ message: 'the task is empty' }] : [];
  problems.push(...schemaProblems('the input schema', input), ...schemaProblems('the output schema', output));
  if (problems.length > 0) return problems;
  problems.push(...inputProblems(input));
  for (const example of examples) problems.push(...(await exampleProblems(example, { input, output })));
  return problems;
}

function schemaProblems(what: string, schema: JsonValue): RequestProblem[] {
  const found = new Problems();
  checkJsonSchema(schema, [], found);
  const errors = found.list.filter(({ severity }) => severity === 'error');
  return errors.map(({ path, message }) => {
    const place = path.length === 0 ? '' : ` (at ${path.join('.')})`;
    return { message: `${what} is no JSON Schema: ${message}${place}` };
  });
}

const OBJECT_HINT = 'such as: {"type": "object", "properties": {"base": {"type": "string"}}, "required": ["base"]}';

/** Its properties become the flow's arguments. */
function inputProblems({ type, properties = {} }: JsonObject): RequestProblem[] {
  if (type !== 'object' || !isJsonObject(properties)) {
    const message = 'the input schema has to describe an object: its properties are the arguments of the flow';
    return [{ message, hint: OBJECT_HINT }];
  }
  const bad = Object.keys(properties).filter((name) => isForbiddenName(name) || !/^[A-Za-z_][\w-]*$/.test(name));
  return bad.map((name) => ({
    message: `the input's property ${JSON.stringify(name)} cannot be an argument`,
    hint: 'letters, digits, - and _',
  }));
}

async function exampleProblems(
  { name, input, output, files = {} }: Example,
  schemas: Pick<AssembleRequest, 'input' | 'output'>,
): Promise<RequestProblem[]> {
  const problems = await misfit(`the input of the example ${name}`, input, schemas.input);
  if (output !== undefined) {
    problems.push(...(await misfit(`the output of the example ${name}`, output, schemas.output)));
  }
  for (const path of Object.keys(files)) {
    if (!/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))./.test(path) || path.includes('\0')) {
      problems.push({ message: `the example ${name} names the file ${JSON.stringify(path)}, outside of its folder` });
    }
  }
  return problems;
}

async function misfit(what: string, value: JsonValue, schema: JsonObject): Promise<RequestProblem[]> {
  const held = await heldTo(schema, value, JSON.stringify(value).length);
  if ('unanswered' in held) return [{ message: `${what} cannot be checked: ${held.unanswered}` }];
  const { problems } = held;
  return problems.length === 0
    ? []
    : [{ message: `${what} does not fit its schema: ${problems.slice(0, 3).join('; ')}` }];
}

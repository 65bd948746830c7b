import { resolve } from 'node:path';
import type { Problems } from '../../check/problem.js';
import type { Flow } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import type { Path } from '../../parse/locate.js';
import { bindArgs, suggestArguments } from '../../plan/args.js';
import { commonSpecs } from '../../run/batch/rows/row-arguments.js';
import type { Project } from '../../util/project.js';
import { lstatIfThere, statIfThere } from '../../util/stat.js';
import { checkExpectation } from './check-expectation.js';
import { checkOrder } from './check-order.js';
import { checkPath } from './check-path.js';
import { rowsOfCase } from './read-rows.js';
import type { RawCase } from './schema.js';

interface CaseWorld {
  readonly project: Project;
  /** Folder of the test file. */
  readonly folder: string;
  readonly problems: Problems;
  /** Undefined where the flow has problems, which are already reported. */
  readonly flow: Flow | undefined;
}

/** Checks what a schema cannot express. */
export async function checkCases(cases: readonly RawCase[], world: CaseWorld): Promise<void> {
  checkOrder(cases, world.problems);
  for (const [index, each] of cases.entries()) {
    const path = ['cases', index];
    checkFiles(each, path, world);
    const labels = world.flow && (await checkArguments(each, path, { ...world, flow: world.flow }));
    checkExpectation(each, { path, problems: world.problems, flow: world.flow, labels });
  }
}

function checkFiles({ files, edit, over }: RawCase, path: Path, { folder, problems }: CaseWorld): void {
  if (typeof files === 'string' && !statIfThere(resolve(folder, files))?.isDirectory()) {
    const message = `there is no folder ${files} beside the test`;
    problems.error([...path, 'files'], 'no-file', { message, hint: 'or write the files here: { PATH: TEXT }' });
  }
  const written = typeof files === 'object' ? { files } : {};
  for (const [name, group] of Object.entries({ ...written, ...(edit && { edit }) })) {
    for (const file of Object.keys(group)) checkPath(file, { path: [...path, name, file], problems });
  }
  if (typeof over === 'string' && !lstatIfThere(resolve(folder, over))?.isFile()) {
    problems.error([...path, 'over'], 'no-file', `there is no file ${over} beside the test`);
  }
}

/** Returns the names of the rows, where there are rows without problems. */
async function checkArguments(
  { args = {}, over, as }: RawCase,
  path: Path,
  { project, folder, problems, flow }: CaseWorld & { readonly flow: Flow },
): Promise<readonly string[] | undefined> {
  const isBatch = over !== undefined;
  if (as !== undefined && !isBatch) problems.error([...path, 'as'], 'no-effect', '"as" is for cases with "over"');
  const specs = isBatch ? commonSpecs(flow.args) : flow.args;
  const bound = bindArgs(specs, args as JsonObject, { root: project.root, source: 'json' });
  if ('problems' in bound) {
    for (const { name, message, hint } of await suggestArguments(bound.problems, flow.args)) {
      const code = Object.hasOwn(args, name) ? 'bad-arg' : 'missing-arg';
      const advice = code === 'missing-arg' ? `add it to "args"` : hint;
      problems.error([...path, 'args', name], code, { message, target: 'key', ...(advice && { hint: advice }) });
    }
    return undefined;
  }
  if (!isBatch || (typeof over === 'string' && !lstatIfThere(resolve(folder, over))?.isFile())) return undefined;
  const rows = await rowsOfCase({ over, as, folder, flow, project, common: bound.args });
  if ('rows' in rows) return rows.rows.map(({ label }) => label);
  for (const { line, message, hint } of rows.problems) {
    const inList = typeof over !== 'string';
    const said = inList ? message : `${over}:${line}: ${message}`;
    const at = inList ? [...path, 'over', line - 1] : [...path, 'over'];
    problems.error(at, 'bad-arg', { message: said, ...(hint && { hint }) });
  }
  return undefined;
}

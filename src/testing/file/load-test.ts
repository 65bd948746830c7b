import { dirname, join, resolve } from 'node:path';
import { withoutForbidden } from '../../check/forbidden.js';
import { loadFlow } from '../../check/load-flow.js';
import { Problems, syntaxDiagnostics, toDiagnostics } from '../../check/problem.js';
import { checkStructure } from '../../check/structure.js';
import type { Diagnostic } from '../../model/diagnostic.js';
import { decodeText, LARGEST_FILE } from '../../parse/decode.js';
import type { Readable } from '../../parse/json.js';
import { locate } from '../../parse/locate.js';
import { parseText } from '../../parse/parse.js';
import { Source } from '../../parse/source.js';
import type { TreeNode } from '../../parse/tree.js';
import { displayPath, relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { readBounded } from '../../util/read-bounded.js';
import { checkCases } from './check-cases.js';
import { type RawCase, type RawTest, TestObject } from './schema.js';
import type { TestCase, TestedFlow, TestFile } from './test-file.js';

type LoadedTest =
  /** `source`: the text that the diagnostics point into. */
  | { readonly test: TestFile; readonly warnings: readonly Diagnostic[]; readonly source: string }
  | { readonly diagnostics: readonly Diagnostic[]; readonly source?: string };

/** A test file, checked together with its flow; or all its problems. Starts nothing and never throws. */
export async function loadTest(project: Project, path: string): Promise<LoadedTest> {
  const file = resolve(project.root, path);
  const shown = displayPath(project.root, file);
  const bytes = readBounded(file, LARGEST_FILE);
  if (bytes === undefined) return { diagnostics: [absent(shown)] };
  const { text, problem } = decodeText(bytes);
  if (problem) return { diagnostics: syntaxDiagnostics([problem], shown, text), source: text };
  const parsed = await parseText(file, text);
  if ('problems' in parsed) return { diagnostics: syntaxDiagnostics(parsed.problems, shown, text), source: text };
  return checked(parsed, { project, file, shown, text });
}

interface Reading {
  readonly project: Project;
  readonly file: string;
  readonly shown: string;
  readonly text: string;
}

async function checked(parsed: Readable, { project, file, shown, text }: Reading): Promise<LoadedTest> {
  const problems = new Problems('the test file');
  const value = withoutForbidden(parsed.value, problems);
  const isSound = checkStructure(value, TestObject, { path: [], problems });
  const raw = value as RawTest;
  const folder = dirname(file);
  const flow = typeof raw?.flow === 'string' ? await testedFlow(raw.flow, { project, folder, problems }) : undefined;
  if (isSound) await checkCases(raw.cases, { project, folder, problems, flow: flow?.flow });
  const tree = await parsed.tree();
  const diagnostics = await toDiagnostics(problems.list, { file: shown, text, tree });
  if (!flow || problems.hasErrors) return { diagnostics, source: text };
  const places = { source: new Source(shown, text), text, tree };
  const cases = raw.cases.map((each, index) => withPlaces(each, index, places));
  const recordings = join(folder, 'recordings', flow.flow.name);
  return { test: { file, shown, flow, cases, recordings }, warnings: diagnostics, source: text };
}

interface Places {
  readonly source: Source;
  readonly text: string;
  readonly tree: TreeNode;
}

function withPlaces(raw: RawCase, index: number, { source, text, tree }: Places): TestCase {
  const lineOf: TestCase['lineOf'] = (path) =>
    source.position(locate(text, tree, { path: ['cases', index, ...path], target: 'key' }).offset).line;
  return { ...raw, lineOf, line: lineOf(['name']) };
}

async function testedFlow(
  ref: string,
  { project, folder, problems }: { project: Project; folder: string; problems: Problems },
): Promise<TestedFlow | undefined> {
  const loaded = await loadFlow(project, ref, { base: folder });
  if ('flow' in loaded) return { ref, file: loaded.file, flow: loaded.flow };
  const first = loaded.diagnostics.find(({ severity }) => severity === 'error')!;
  if (first.code === 'no-flow') {
    problems.error(['flow'], 'unknown-flow', { message: first.message, ...(first.hint && { hint: first.hint }) });
    return undefined;
  }
  const message = `the flow has problems (${first.line}:${first.column} ${first.message})`;
  const flow = relativePath(project.root, resolve(folder, ref));
  problems.error(['flow'], 'unknown-flow', { message, hint: `see: taskflow check ${flow}` });
  return undefined;
}

function absent(shown: string): Diagnostic {
  const place = { file: shown, line: 1, column: 1, length: 1 };
  return { ...place, severity: 'error', code: 'no-file', message: `there is no test file ${shown}` };
}

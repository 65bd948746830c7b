import { resolve } from 'node:path';
import type { Diagnostic } from '../../../model/diagnostic.js';
import type { Flow } from '../../../model/flow.js';
import { isTestFile } from '../../../model/names.js';
import { plural } from '../../../util/format.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { absentInWords, flowReference } from '../../load/flow-file.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: 'FLOW… [--strict] [--observed] [--workers] [--json | --format text|json|github]',
  description: `Reports every problem of the flows at once: where it is, what is wrong and what to do. Starts no
process and calls no model. Without FLOW, all saved flows of the project are checked. A test file (NAME.test.yaml) is
checked too.`,
  examples: [
    { command: 'taskflow check flows/review.yaml', does: 'all problems of one file' },
    { command: 'taskflow check flows/*.yaml --strict --format github', does: 'annotations in CI; warnings fail too' },
  ],
  flags: [
    jsonFlag('as JSON: [{file, line, column, severity, code, message, hint}]'),
    {
      name: 'format',
      type: 'string',
      value: 'FORMAT',
      choices: ['text', 'json', 'github'],
      help: 'text, json, or github for annotations in a workflow',
    },
    { name: 'strict', type: 'boolean', help: 'warnings fail too' },
    { name: 'workers', type: 'boolean', help: 'say which phases workers may do (run --workers), and why not others' },
    { name: 'observed', type: 'boolean', help: 'warn of what phases read in the last run and do not declare' },
  ],
  positionals: [{ name: 'FLOW', help: 'a path, or the name of a saved flow', required: false, many: true }],
  async run(invocation) {
    const flows = await namedFlows(invocation);
    if (flows.length === 0) return complain(invocation, 'there is no flow to check', 'name one: taskflow check FLOW');
    const results = await checkAll(invocation, flows);
    await write(invocation, results);
    const found = results.flatMap(({ diagnostics }) => diagnostics);
    const strict = invocation.flags.boolean('strict');
    return found.some(({ severity }) => strict || severity === 'error') ? EXIT.usage : EXIT.success;
  },
};

interface Checked {
  readonly flow: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly source?: string;
  /** To show where they are executed. */
  readonly phases?: Flow['phases'] | undefined;
}

async function namedFlows({ positionals, project }: Invocation): Promise<readonly string[]> {
  if (positionals.length > 0) return positionals;
  const { projectFlowNames } = await import('../../../check/find-flow.js');
  return projectFlowNames(project);
}

/** Checks their text, not a kept result of an earlier check, which has no places to show. */
async function checkAll(invocation: Invocation, flows: readonly string[]): Promise<readonly Checked[]> {
  const { loadFlow } = await import('../../../check/load-flow.js');
  const results: Checked[] = [];
  for (const flow of flows) {
    if (isTestFile(flow)) {
      results.push({ flow, ...(await checkTest(invocation, flow)) });
      continue;
    }
    const loaded = await loadFlow(invocation.project, flowReference(invocation, flow), {
      withoutKept: true,
      lookForFiles: true,
    });
    const found = 'flow' in loaded ? loaded.warnings : absentInWords(invocation, flow, loaded.diagnostics);
    const observed = 'flow' in loaded && invocation.flags.boolean('observed');
    const more = observed ? await undeclaredInputs(invocation, loaded.flow, flow) : [];
    const phases = 'flow' in loaded && invocation.flags.boolean('workers') ? loaded.flow.phases : undefined;
    results.push({ flow, diagnostics: [...found, ...more], source: loaded.source, phases });
  }
  return results;
}

/** Cross-run phases that read files which they do not declare. */
async function undeclaredInputs({ project }: Invocation, flow: Flow, typed: string): Promise<readonly Diagnostic[]> {
  const { seenInLastRun } = await import('../../../run/history/seen-in-run.js');
  const seen = seenInLastRun(project, flow.file ?? typed);
  return flow.phases.flatMap(({ id, cache, line = 1, column = 1 }) => {
    const { reads = [], absent = [] } = (cache.scope === 'cross-run' && seen.get(id)) || {};
    const [first, ...others] = [...reads, ...absent];
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `"${id}" looked at ${first}${more} and does not declare it`;
    const hint = `taskflow cache inputs ${typed} ${id} --suggest`;
    const place = { file: flow.file ?? typed, line, column, length: 1 };
    return [{ ...place, severity: 'warning' as const, code: 'undeclared-input', message, hint }];
  });
}

/** A test file is checked with the flow that it tests. */
async function checkTest({ project, cwd }: Invocation, typed: string): Promise<Omit<Checked, 'flow'>> {
  const { loadTest } = await import('../../../testing/file/load-test.js');
  const loaded = await loadTest(project, resolve(cwd, typed));
  const source = loaded.source === undefined ? {} : { source: loaded.source };
  return { diagnostics: 'test' in loaded ? loaded.warnings : loaded.diagnostics, ...source };
}

async function write(invocation: Invocation, results: readonly Checked[]): Promise<void> {
  const { flags, out } = invocation;
  const format = flags.boolean('json') ? 'json' : (flags.string('format') ?? 'text');
  const found = results.flatMap(({ diagnostics }) => diagnostics);
  if (format === 'json') out.json(found);
  else if (format === 'github') await writeAnnotations(invocation, found);
  else await writeText(invocation, results);
}

async function writeText({ out, err }: Invocation, results: readonly Checked[]): Promise<void> {
  const { renderDiagnostic } = await import('../../../parse/frame.js');
  const style = createStyle(out.color);
  const frameStyle = { error: style.red, warning: style.yellow, quiet: style.dim };
  for (const { flow, diagnostics, source, phases } of results) {
    for (const diagnostic of diagnostics) out.write(`${renderDiagnostic(diagnostic, source, frameStyle)}\n`);
    if (diagnostics.length === 0) out.write(`${style.green('ok')} ${flow}\n`);
    if (phases) out.write(await whereText(phases));
  }
  const found = results.flatMap(({ diagnostics }) => diagnostics);
  const errors = found.filter(({ severity }) => severity === 'error').length;
  if (found.length > 0) err.write(`${plural(errors, 'error')}, ${plural(found.length - errors, 'warning')}\n`);
}

async function whereText(phases: Flow['phases']): Promise<string> {
  const { whyPhaseStays } = await import('../../../run/reuse/travels.js');
  const { alignColumns } = await import('../../text/table.js');
  const said = (why: string | undefined) => (why === undefined ? 'goes to workers' : `stays here: ${why}`);
  return alignColumns(phases.map((phase) => [`  ${phase.id}`, said(whyPhaseStays(phase))]));
}

async function writeAnnotations({ out }: Invocation, found: readonly Diagnostic[]): Promise<void> {
  const { annotationLine } = await import('../../../report/github/annotation.js');
  const { diagnosticAnnotation } = await import('../../../report/github/annotations.js');
  for (const diagnostic of found) out.command(annotationLine(diagnosticAnnotation(diagnostic, diagnostic.file)));
}

import type { RecordMode } from '../../../testing/recordings/recordings.js';
import type { Tested } from '../../../testing/suite/run-suite.js';
import type { Command, Invocation } from '../../boot/command.js';
import { complain, refuse } from '../../errors/problem.js';
import { ALLOW_KEY_FLAG, jsonFlag } from '../../flags/common-flags.js';

export const command: Command = {
  usage: '[FILE…] [-t NAME] [--record | --update] [flags]',
  description: `Runs the cases of test files (NAME.test.yaml) in temporary copies of the project. Agents are answered
from recordings beside the test file: no model is called, unless you record. Scripts run for real. FILE is a test file,
a flow with a test beside it, or a folder; without it, all tests of the project run.

Status: 0 if all cases passed, 1 if not, 2 if a test file or a recording has problems.`,
  examples: [
    { command: 'taskflow test', does: 'all tests of the project, without a model' },
    { command: 'taskflow test flows/review.yaml -t "two files"', does: 'the cases with this in their name' },
    { command: 'taskflow test --update', does: 'asks the real runner for what is not recorded yet' },
    { command: 'taskflow test --record --runner local', does: 'records everything anew' },
    { command: 'taskflow test --junit report.xml', does: 'a test report for CI' },
  ],
  flags: [
    { name: 'case', alias: 't', type: 'string', value: 'NAME', help: 'only cases with this in their name' },
    { name: 'record', type: 'boolean', help: 'call the real runner and record all calls anew' },
    { name: 'update', type: 'boolean', help: 'call the real runner for calls that are not recorded' },
    { name: 'list', type: 'boolean', help: 'the cases, without running them' },
    jsonFlag('one JSON report on stdout'),
    { name: 'junit', type: 'string', value: 'FILE', help: 'a test report for CI; its folder is made' },
    { name: 'jobs', alias: 'j', type: 'number', value: 'N', help: 'cases at once (default: 4; one when recording)' },
    { name: 'runner', type: 'string', value: 'NAME', help: 'when recording: runner of all phases' },
    { name: 'model', type: 'string', value: 'M', help: 'when recording: model of all phases' },
    { name: 'max-usd', type: 'number', value: 'N', help: 'when recording: bound for each case' },
    ALLOW_KEY_FLAG,
  ],
  positionals: [{ name: 'FILE', help: 'a test file, a flow or a folder', required: false, many: true }],
  async run(invocation) {
    const mode = modeOf(invocation);
    if (typeof mode !== 'string') return complain(invocation, mode.problem, mode.hint);
    const { findTests } = await import('../../../testing/suite/find-tests.js');
    const { files, missing } = await findTests(invocation.project, invocation.positionals, invocation.cwd);
    if (missing.length > 0) return complain(invocation, `there is no test ${missing.join(', ')}`, WHERE);
    if (files.length === 0) return complain(invocation, 'there are no tests in this project', WHERE);
    const tested = await requireTests(invocation, files, mode);
    if ('status' in tested) return tested.status;
    const { executeTests, listTests } = await import('../../test/execute-tests.js');
    return invocation.flags.boolean('list') ? listTests(invocation, tested) : executeTests(invocation, tested);
  },
};

const WHERE = 'tests of flows/review.yaml are in flows/review.test.yaml';

function modeOf({ flags }: Invocation): RecordMode | { readonly problem: string; readonly hint?: string } {
  const jobs = flags.number('jobs');
  if (jobs !== undefined && (!Number.isInteger(jobs) || jobs < 1))
    return { problem: '--jobs is a whole number from 1 on' };
  const maxUSD = flags.number('max-usd');
  if (maxUSD !== undefined && maxUSD < 0) return { problem: '--max-usd is an amount of money, not less than 0' };
  const [record, update] = [flags.boolean('record'), flags.boolean('update')];
  if (record && update) return { problem: '--record and --update contradict each other' };
  const given = ['runner', 'model', 'max-usd', ALLOW_KEY_FLAG.name].find((name) => flags.has(name));
  if (given && !record && !update) {
    return { problem: `--${given} is for recording`, hint: 'add --record or --update' };
  }
  return record ? 'record' : update ? 'update' : 'replay';
}

/** The tests, checked; or the exit status after all their problems have been shown. */
async function requireTests(
  invocation: Invocation,
  files: readonly string[],
  mode: RecordMode,
): Promise<readonly Tested[] | { readonly status: number }> {
  const { openTests } = await import('../../../testing/suite/open-tests.js');
  const opened = await openTests(invocation.project, files, mode);
  const reported = 'tested' in opened ? opened.warnings : opened.diagnostics;
  if (reported.length > 0) {
    const { writeDiagnostics } = await import('../../errors/diagnostics.js');
    await writeDiagnostics(invocation.err, reported, invocation.project);
    (await import('../../errors/annotate-diagnostics.js')).annotateDiagnostics(invocation, reported);
  }
  if (!('tested' in opened)) return { status: refuse(invocation, reported) };
  const only = invocation.flags.string('case')?.toLowerCase();
  const names = opened.tested.flatMap(({ file }) => file.cases.map(({ name }) => name));
  if (only === undefined || names.some((name) => name.toLowerCase().includes(only))) return opened.tested;
  const { nearestName } = await import('../../../util/nearest.js');
  const nearest = await nearestName(only, names);
  const hint = nearest === undefined ? 'taskflow test --list shows them' : `did you mean ${JSON.stringify(nearest)}?`;
  return { status: complain(invocation, `no case has ${JSON.stringify(only)} in its name`, hint) };
}

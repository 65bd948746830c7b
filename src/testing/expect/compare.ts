import { join } from 'node:path';
import { textIfThere } from '../../util/if-there.js';
import type { RawExpectation } from '../file/schema.js';
import type { TestCase } from '../file/test-file.js';
import type { Difference } from '../suite/report.js';
import type { CaseRun } from '../suite/run-case.js';
import { compareSteps } from './compare-steps.js';
import { type Mismatch, mismatches } from './matchers.js';

type Found = readonly Mismatch[];

/** The differences from what a case expects, in the order of the file. */
export function differencesOf(test: TestCase, run: CaseRun): readonly Difference[] {
  const { expect = {} } = test;
  const found: Found = [
    ...statusOf(expect, run),
    ...under('output', expect.output === undefined ? [] : mismatches(run.output, expect.output)),
    ...under('phases', phasesOf(expect.phases ?? {}, run)),
    ...under('rows', rowsOf(expect.rows ?? {}, run)),
    ...stepsOf(expect, run),
    ...callsOf(expect, run),
    ...under('files', filesOf(expect.files ?? {}, run)),
    ...errorOf(expect, run),
  ];
  return found
    .map(({ path, message }) => ({
      what: path.filter((step) => typeof step === 'string').join('.'),
      line: test.lineOf(['expect', ...path]),
      message,
    }))
    .sort((a, b) => a.line - b.line);
}

function under(name: string, found: Found): Found {
  return found.map(({ path, message }) => ({ path: [name, ...path], message }));
}

/** Expects success, unless the case names another ending. */
function statusOf({ status, error }: RawExpectation, run: CaseRun): Found {
  const isExpected =
    status === undefined && error !== undefined ? run.status !== 'success' : run.status === (status ?? 'success');
  if (isExpected) return [];
  const why = run.error ? ` (${[run.error.phase, run.error.message].filter(Boolean).join(': ')})` : '';
  return [{ path: ['status'], message: `is ${run.status}, not ${status ?? (error ? 'a failure' : 'success')}${why}` }];
}

function phasesOf(wanted: NonNullable<RawExpectation['phases']>, { log }: CaseRun): Found {
  return Object.entries(wanted).flatMap(([id, { status, reused, error, ...matchers }]) => {
    const outcome = log.outcomes.get(id);
    if (!outcome) return [{ path: [id], message: 'did not come to its turn' }];
    const { text, json } = outcome.output;
    const isReused = outcome.cacheHit !== null;
    return under(id, [
      ...different('status', outcome.status, status),
      ...(reused === undefined || reused === isReused
        ? []
        : [{ path: ['reused'], message: isReused ? 'it was reused' : `it was not reused: ${outcome.reason}` }]),
      ...inError(outcome.failure?.message, error),
      ...mismatches({ text, json }, matchers),
    ]);
  });
}

function rowsOf(wanted: NonNullable<RawExpectation['rows']>, { rows }: CaseRun): Found {
  return Object.entries(wanted).flatMap(([label, { status, error, ...matchers }]) => {
    const row = rows.get(label);
    if (!row) return [{ path: [label], message: 'there is no such row' }];
    return under(label, [
      ...different('status', row.status, status),
      ...inError(row.error?.message, error),
      ...mismatches(row.output, matchers),
    ]);
  });
}

function different(name: string, is: string, wanted: string | undefined): Found {
  return wanted === undefined || is === wanted ? [] : [{ path: [name], message: `is ${is}, not ${wanted}` }];
}

function inError(message: string | undefined, wanted: string | undefined): Found {
  if (wanted === undefined) return [];
  if (message === undefined) return [{ path: ['error'], message: 'there was no error' }];
  return under('error', mismatches({ text: message }, wanted));
}

function stepsOf(expect: RawExpectation, { log }: CaseRun): Found {
  return (['executed', 'reused'] as const).flatMap((was) => {
    const wanted = expect[was];
    if (!wanted) return [];
    return compareSteps(wanted, log.steps(), was).map(({ index, message }) => ({
      path: index === undefined ? [was] : [was, index],
      message,
    }));
  });
}

function callsOf({ calls }: RawExpectation, run: CaseRun): Found {
  if (calls === undefined || calls === run.calls.count) return [];
  return [{ path: ['calls'], message: `were ${run.calls.count}, not ${calls}` }];
}

function filesOf(wanted: NonNullable<RawExpectation['files']>, { root }: CaseRun): Found {
  return Object.entries(wanted).flatMap(([path, matchers]) => {
    const text = textIfThere(join(root, path));
    const said = text === undefined ? undefined : { text };
    if (matchers === null) return said ? [{ path: [path], message: 'is there' }] : [];
    return under(path, said ? mismatches(said, matchers) : [{ path: [], message: 'is not there' }]);
  });
}

function errorOf({ error: wanted }: RawExpectation, { error }: CaseRun): Found {
  if (wanted === undefined) return [];
  if (!error) return [{ path: ['error'], message: 'there was no error' }];
  if (typeof wanted === 'string') return under('error', mismatches({ text: error.message }, wanted));
  const { phase, code, ...matchers } = wanted;
  return under('error', [
    ...different('phase', error.phase, phase),
    ...different('code', error.code, code),
    ...mismatches({ text: error.message }, matchers),
  ]);
}

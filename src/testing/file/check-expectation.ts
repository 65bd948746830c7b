import type { Place, Problems } from '../../check/problem.js';
import { warnIfSlow } from '../../check/slow-patterns.js';
import type { Flow } from '../../model/flow.js';
import type { Path } from '../../parse/locate.js';
import { checkPath } from './check-path.js';
import type { RawCase } from './schema.js';

interface ExpectationWorld extends Place {
  /** Undefined where the flow has problems. */
  readonly flow: Flow | undefined;
  /** Names of the rows of a batch. */
  readonly labels: readonly string[] | undefined;
}

/** Checks that names in expectations exist in the flow, its rows and its files, and that patterns are valid. */
export function checkExpectation({ approvals = {}, over, expect = {} }: RawCase, world: ExpectationWorld): void {
  const { path, problems, flow, labels } = world;
  const at = [...path, 'expect'];
  checkPatterns(expect, at, problems);
  for (const file of Object.keys(expect.files ?? {})) checkPath(file, { path: [...at, 'files', file], problems });
  const inBatch = over !== undefined;
  if (expect.rows && !inBatch) problems.error([...at, 'rows'], 'no-effect', '"rows" is for cases with "over"');
  for (const field of ['phases', 'output'] as const) {
    const hint = 'say it of a row: rows: { NAME: { contains: … } }';
    const message = `a batch has no "${field}" of its own`;
    if (inBatch && expect[field]) problems.error([...at, field], 'no-effect', { message, hint });
  }
  for (const label of labels ? Object.keys(expect.rows ?? {}) : []) {
    if (labels!.includes(label)) continue;
    const suggest = { name: label, known: labels! };
    const message = `there is no row ${JSON.stringify(label)}`;
    problems.error([...at, 'rows', label], 'unknown-case', { message, target: 'key', suggest });
  }
  if (flow) checkNames({ approvals, expect }, { ...world, flow, path: at });
}

function checkNames(
  { approvals = {}, expect = {} }: Pick<RawCase, 'approvals' | 'expect'>,
  { path, problems, flow, labels = [] }: ExpectationWorld & { readonly flow: Flow },
): void {
  const ids = flow.phases.map(({ id }) => id);
  const check = (name: string, place: Path, target: 'key' | 'value') => {
    const id = phaseOf(name, labels);
    if (ids.includes(id)) return;
    const message = `the flow has no phase ${JSON.stringify(id)}`;
    problems.error(place, 'unknown-step', { message, target, suggest: { name: id, known: ids } });
  };
  for (const id of Object.keys(expect.phases ?? {})) check(id, [...path, 'phases', id], 'key');
  for (const list of ['executed', 'reused'] as const) {
    for (const [index, name] of (expect[list] ?? []).entries()) check(name, [...path, list, index], 'value');
  }
  const asking = flow.phases.filter(({ kind }) => kind === 'approval').map(({ id }) => id);
  for (const id of Object.keys(approvals)) {
    if (asking.includes(id)) continue;
    const message = `the flow has no approval ${JSON.stringify(id)}`;
    const suggest = { name: id, known: asking };
    problems.error([...path.slice(0, -1), 'approvals', id], 'unknown-step', { message, target: 'key', suggest });
  }
}

/** `notes` of `notes[src/a.ts]`, of `notes/inner`, and of `Tides/notes` where Tides is a row. */
function phaseOf(name: string, labels: readonly string[]): string {
  const row = labels.find((label) => name.startsWith(`${label}/`));
  return (row === undefined ? name : name.slice(row.length + 1)).replace(/[[/].*$/s, '');
}

function checkPatterns(value: unknown, path: Path, problems: Problems): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    // The value to compare with is data and holds no patterns.
    if (name === 'json' || name === 'equals') continue;
    if (name === 'matches' && typeof member === 'string') checkPattern(member, [...path, name], problems);
    else checkPatterns(member, [...path, name], problems);
  }
}

function checkPattern(source: string, path: Path, problems: Problems): void {
  try {
    new RegExp(source, 'm');
    warnIfSlow(problems, path, { source, flags: 'm' });
  } catch (error) {
    problems.error(path, 'bad-pattern', `this is no regular expression: ${(error as Error).message}`);
  }
}

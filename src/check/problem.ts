import type { Diagnostic } from '../model/diagnostic.js';
import { locate, type Path } from '../parse/locate.js';
import { Source } from '../parse/source.js';
import type { SyntaxProblem, TreeNode } from '../parse/tree.js';
import { nearestName } from '../util/nearest.js';
import type { Code } from './codes.js';

/** A problem by the path to its value. Lines and columns are computed only for a report. */
export interface Problem {
  readonly path: Path;
  readonly target?: 'key' | 'value';
  /** Part of a text value. */
  readonly span?: { readonly offset: number; readonly length: number };
  readonly severity: 'error' | 'warning';
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
  /** An unknown name and the known ones: the nearest becomes the hint. */
  readonly suggest?: { readonly name: string; readonly known: Iterable<string> };
}

/** A message with an optional hint and exact place. */
type Details = Omit<Problem, 'path' | 'severity' | 'code'>;

function inDetail(details: string | Details): Details {
  return typeof details === 'string' ? { message: details } : details;
}

/** Bounds the time for a file full of mistakes. */
const MOST_PROBLEMS = 500;

/** Where a value is, and where to report what is wrong with it. */
export interface Place {
  readonly path: Path;
  readonly problems: Problems;
}

/** All problems of one check, in the order in which they were found. */
export class Problems {
  readonly #list: Problem[] = [];
  readonly #settled = new Set<string>();
  #errors = 0;

  /** The name of the file in messages. */
  constructor(readonly subject = 'the flow') {}

  /** Marks a wrong, reported value: later problems about its replacement are dropped. */
  settle(path: Path): void {
    this.#settled.add(path.join('\0'));
  }

  /** The path is copied, because callers reuse one list for all places. */
  add({ path, ...rest }: Problem): void {
    const problem: Problem = { path: [...path], ...rest };
    if (this.#settled.size > 0 && this.#settled.has(problem.path.join('\0'))) return;
    if (problem.severity === 'error') this.#errors += 1;
    if (this.#list.length < MOST_PROBLEMS) this.#list.push(problem);
    // Errors replace warnings, because errors decide.
    else if (problem.severity === 'error' && this.#errors < MOST_PROBLEMS) this.#replaceWarning(problem);
  }

  /** Returns false, for the caller to return. */
  error(path: Path, code: Code, details: string | Details): false {
    this.add({ path, severity: 'error', code, ...inDetail(details) });
    return false;
  }

  warn(path: Path, code: Code, details: string | Details): void {
    this.add({ path, severity: 'warning', code, ...inDetail(details) });
  }

  /** Warns of a correct field that has no effect here. */
  noEffect(path: Path, message: string, hint?: string): void {
    this.warn(path, 'no-effect', { message, target: 'key', ...(hint !== undefined && { hint }) });
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  get list(): readonly Problem[] {
    return this.#list;
  }

  #replaceWarning(problem: Problem): void {
    const index = this.#list.findLastIndex(({ severity }) => severity === 'warning');
    if (index !== -1) this.#list[index] = problem;
  }
}

/** Diagnostics in the order of the file. */
export async function toDiagnostics(
  problems: readonly Problem[],
  { file, text, tree }: { readonly file: string; readonly text: string; readonly tree: TreeNode },
): Promise<readonly Diagnostic[]> {
  const source = new Source(file, text);
  const diagnostics: Diagnostic[] = [];
  const hints = new Hints();
  for (const problem of problems) {
    const { path, target = 'value', span } = problem;
    const { offset, length } = locate(text, tree, { path, target, ...(span ? { span } : {}) });
    const hint = await hints.of(problem);
    diagnostics.push({
      file,
      ...source.position(offset),
      length,
      severity: problem.severity,
      code: problem.code,
      message: problem.message,
      ...(hint ? { hint } : {}),
    });
  }
  return inFileOrder(diagnostics);
}

export function inFileOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/**
 * Finds the hints. The comparison of names is bounded for the whole file, which may have thousands of phases times
 * hundreds of typos.
 */
class Hints {
  #comparisons = 500_000;

  async of({ hint, suggest }: Problem): Promise<string | undefined> {
    if (!suggest) return hint;
    const known = [...suggest.known];
    this.#comparisons -= known.length;
    const nearest = this.#comparisons > 0 ? await nearestName(suggest.name, known) : undefined;
    return nearest === undefined ? hint : `did you mean "${nearest}"?`;
  }
}

export function syntaxDiagnostics(
  problems: readonly SyntaxProblem[],
  file: string,
  text: string,
): readonly Diagnostic[] {
  const source = new Source(file, text);
  return problems.map(({ offset, length, code, message, hint }) => ({
    file,
    ...source.position(offset),
    length,
    severity: 'error',
    code,
    message,
    ...(hint ? { hint } : {}),
  }));
}

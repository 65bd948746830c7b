import type { Detail, ReportData, RunComparison, RunView } from '../view/types.js';

/** Where a page gets its data: from the report file itself, or from a server. */
export interface PageSource {
  /** The page may decide about the run. */
  readonly decides: boolean;
  /** Undefined: there is no such run (any more). */
  run(runId: string): Promise<RunView | undefined>;
  /** The long texts of a phase or unit, by the name that the journal has for it. */
  detail(runId: string, name: string): Promise<Detail | undefined>;
  /** Compares with the chosen run, by default the one before it. Undefined: there is none. */
  compare(runId: string): Promise<RunComparison | undefined>;
  /** Calls back whenever the run has changed; returns how to stop. */
  watch?(runId: string, changed: () => void): () => void;
  /** Only in a report file: when it was made, and whether it holds contents. */
  readonly report?: { readonly madeAt: number; readonly outputs: boolean };
}

/** The data of a report file. */
export function staticSource({ view, details, comparison, madeAt, outputs }: ReportData): PageSource {
  return {
    decides: false,
    run: async (runId) => (runId === view.runId ? view : undefined),
    detail: async (_runId, name) => (Object.hasOwn(details, name) ? details[name] : undefined),
    compare: async () => comparison,
    report: { madeAt, outputs },
  };
}

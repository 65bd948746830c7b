import { waitingApprovals } from '../../run/history/decide-approval.js';
import { continuedBy } from '../../run/history/succession.js';
import type { Project } from '../../util/project.js';
import { visible } from '../../util/terminal-text.js';

/** A question of a run, whole: a person who decides about a text has to see all of it. */
export interface OpenQuestion {
  readonly phase: string;
  /** With invisible characters made visible, as on a terminal. */
  readonly text: string;
  /** Digest of the question, which goes back with the decision. */
  readonly digest: string;
  readonly at: number;
  readonly deadline: number | null;
  readonly decided: { readonly decision: string; readonly by: string | null; readonly at: number } | null;
}

/** Empty once the run has gone on. */
export function questionsOf(project: Project, runId: string): readonly OpenQuestion[] {
  if (continuedBy(project, runId) !== undefined) return [];
  return waitingApprovals(project, runId).map(({ phase, text, digest, at, deadline, decided }) => ({
    phase,
    text: visible(text),
    digest,
    at,
    deadline: deadline ?? null,
    decided: decided ? { decision: decided.decision, by: decided.by ?? null, at: decided.at } : null,
  }));
}

import { mayBeCrossRun } from '../../model/kind.js';
import type { Status } from '../../model/outcome.js';
import type { AskLine, DecisionLine, JournalLine, RunLine } from '../journal/lines.js';

/**
 * Decisions about approvals that have not released any work. A decision serves one run: once something behind the
 * approval has begun, a run that continues by itself asks again.
 */
export class PriorDecisions {
  readonly #open = new Map<string, DecisionLine>();
  /** Questions that have to be answered by a certain time, and are not. */
  readonly #asked = new Map<string, AskLine>();
  #phases = new Map<string, RunLine['phases'][number]>();

  collect(line: JournalLine): void {
    switch (line.type) {
      case 'run':
        this.#phases = new Map(line.phases.map((phase) => [phase.id, phase]));
        break;
      case 'ask':
        if (line.deadline !== undefined) this.#asked.set(decisionKey(line.phase, line.digest), line);
        break;
      case 'decision':
        this.#open.set(decisionKey(line.phase, line.digest), line);
        break;
      case 'start':
        if (this.#open.size > 0) this.#usedBy(line.phase);
        break;
      case 'phase':
        if (line.kind === 'approval' && isAnswered(line.status)) this.#answered(line.phase);
        // A rejection has done what it can do.
        if (line.kind === 'approval' && line.status === 'blocked') this.#close((path) => path === line.phase);
        break;
    }
  }

  find(path: string, digest: string): DecisionLine | undefined {
    return this.#open.get(decisionKey(path, digest));
  }

  /** The question about exactly this text, where its time to be answered is running already. */
  asked(path: string, digest: string): AskLine | undefined {
    return this.#asked.get(decisionKey(path, digest));
  }

  /** What a run that continues must carry. */
  unused(): readonly (AskLine | DecisionLine)[] {
    return [...this.#asked.values(), ...this.#open.values()];
  }

  #answered(path: string): void {
    for (const [key, { phase }] of this.#asked) if (phase === path) this.#asked.delete(key);
  }

  /** Work has begun: whatever was decided before it, in its own flow and in those around it, is used up. */
  #usedBy(path: string): void {
    const row = /^rows\/[^/]+\//.exec(path)?.[0] ?? '';
    const [top = '', ...inner] = path.slice(row.length).split('/');
    const id = top.replace(/\[.*$/s, '');
    if (inner.length === 0 && this.#decides(id)) return;
    const before = this.#before(id);
    this.#close((approval) => {
      if (!approval.startsWith(row)) return false;
      const rest = approval.slice(row.length);
      // How a nested flow is built is not in the journal; there, everything later counts.
      return before.has(rest) || (rest.includes('/') && approval !== path && isInSameFlow(path, approval));
    });
  }

  /** Gates and further approvals are questions, not work. */
  #decides(id: string): boolean {
    const kind = this.#phases.get(id)?.kind;
    return kind !== undefined && !mayBeCrossRun(kind);
  }

  #before(id: string): Set<string> {
    const found = new Set<string>();
    const open = [id];
    for (let current = open.pop(); current !== undefined; current = open.pop()) {
      for (const need of this.#phases.get(current)?.needs ?? []) {
        if (found.has(need)) continue;
        found.add(need);
        open.push(need);
      }
    }
    return found;
  }

  #close(used: (path: string) => boolean): void {
    for (const [key, decision] of this.#open) if (used(decision.phase)) this.#open.delete(key);
  }
}

/** What is paused, or was interrupted, is still to be answered. */
function isAnswered(status: Status): boolean {
  return status === 'done' || status === 'blocked' || status === 'failed';
}

/** Whether the path lies in the same nested flow as the approval. */
function isInSameFlow(path: string, approval: string): boolean {
  return path.startsWith(approval.slice(0, approval.lastIndexOf('/') + 1));
}

function decisionKey(path: string, digest: string): string {
  return `${path} ${digest}`;
}

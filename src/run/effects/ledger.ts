import { join } from 'node:path';
import { holderIdentity } from '../../process/process-identity.js';
import type { Project } from '../../util/project.js';
import type { LinePlace } from '../journal/writer.js';
import { effectsFolder, ledgerName } from './folder.js';
import { LedgerFile } from './ledger-file.js';
import { type EffectName, type Held, nameText } from './lines.js';

interface LedgerOptions {
  readonly project: Project;
  /** The flow's file, whatever name it was run by. */
  readonly flowId: string;
  readonly argsDigest: string;
  readonly runId: string;
}

/** So many ids in one line: a line is written in one piece. */
const IDS_PER_LINE = 500;
const ARGS_LENGTH = 24;

/**
 * Which side effects of a flow have begun, across all of its runs. The line is on disk before the effect starts. The
 * ledger does not depend on what is continued, cached, pruned or cleared.
 */
export class EffectsLedger {
  readonly #file: LedgerFile;
  readonly #rows = new Map<string, string>();
  /** Done, kept or reused by this run: closed with it if it succeeds. */
  readonly #passed = new Set<string>();
  /** Results of this run: where its journal has them. */
  readonly #own = new Map<string, LinePlace>();
  /** Phases of which something was open when this run first looked. */
  #doubtful: ReadonlySet<string> | undefined;
  #made = 0;

  constructor(private readonly options: LedgerOptions) {
    const { project, flowId } = options;
    this.#file = new LedgerFile(effectsFolder(project), ledgerName(project, flowId));
  }

  /** A row of a batch has arguments of its own: it is the same as a run with these. */
  nameRow(place: string, argsDigest: string): void {
    const again = /-\d+$/.exec(place)?.[0] ?? '';
    this.#rows.set(place, argsDigest.slice(0, ARGS_LENGTH) + again);
  }

  forgetRow(place: string): void {
    this.#rows.delete(place);
  }

  /** `path`: of the phase, within the run. */
  nameOf(path: string, unit: string | undefined): EffectName {
    const row = /^rows\/([^/]+)\/(.*)$/s.exec(path);
    const args = row ? (this.#rows.get(row[1]!) ?? row[1]!) : this.options.argsDigest.slice(0, ARGS_LENGTH);
    return { args, phase: row ? row[2]! : path, unit };
  }

  /** Which run holds it now; `problem` when the ledger cannot be read. */
  held(name: EffectName): Held | { readonly problem: string } | undefined {
    try {
      const states = this.#file.read();
      this.#doubtful ??= new Set([...states.all()].flatMap((held) => (held.state === 'open' ? [ofPhase(held)] : [])));
      return states.get(name);
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  /** Something of this phase is held: by itself, an item or a branch. */
  holdsOf({ args, phase }: EffectName): boolean {
    for (const held of this.#file.read().all()) if (held.args === args && held.phase === phase) return true;
    return false;
  }

  /** Something of this phase was in doubt when the run began. */
  wasDoubtful(name: EffectName): boolean {
    return this.#doubtful?.has(ofPhase(name)) === true;
  }

  /**
   * Claims the right to start it (or marks it done), replacing the start `over` if a person says so. Else returns why
   * not: another run holds it, or the line could not be written.
   */
  claim(
    type: 'start' | 'kept',
    name: EffectName,
    over?: string,
  ): { readonly id: string } | { readonly problem: string } | { readonly by: Held } {
    const { project, runId, flowId } = this.options;
    this.#made += 1;
    const id = `${runId}.${this.#made}`;
    const owner = holderIdentity();
    const line = { type, id, ...name, over, at: project.clock.now(), run: runId, flow: flowId, owner } as const;
    const problem = this.#file.append(line);
    if (problem !== undefined) {
      // The line may be in the file without being synced: it must not count as a start.
      this.#file.append({ type: 'failed', id });
      return { problem };
    }
    const now = this.#file.read().get(name);
    if (now && now.id !== id) return { by: now };
    if (type === 'kept') this.#passed.add(id);
    return { id };
  }

  /** Why it could not be written; then it stays in doubt. */
  settle(id: string, how: 'done' | 'failed'): string | undefined {
    if (how === 'done') this.#passed.add(id);
    return this.#file.append({ type: how, id });
  }

  /** This run goes on with it as it is. */
  pass({ id, state }: Held): void {
    if (state === 'done') this.#passed.add(id);
  }

  keepOwn(name: EffectName, place: LinePlace): void {
    this.#own.set(nameText(name), place);
  }

  own(name: EffectName): LinePlace | undefined {
    return this.#own.get(nameText(name));
  }

  /** The whole flow succeeded: the next run may do its side effects again. */
  close(): void {
    const ids = [...this.#passed];
    for (let from = 0; from < ids.length; from += IDS_PER_LINE) {
      this.#file.append({ type: 'closed', ids: ids.slice(from, from + IDS_PER_LINE) });
    }
    if (ids.length > 0) this.#file.tidy();
  }
}

function ofPhase({ args, phase }: EffectName): string {
  return join(args, phase);
}

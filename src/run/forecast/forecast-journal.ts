import { devNull } from 'node:os';
import type { JsonObject } from '../../model/json.js';
import type { JournalLine } from '../journal/lines.js';
import { JournalWriter, type LinePlace, type Urgency } from '../journal/writer.js';

/** What an execution would be decided by; `unit` for an item or a branch of the phase. */
export interface ForecastIdentity {
  readonly unit?: string;
  readonly identity: JsonObject;
}

/** Writes nothing: keeps what `cache explain` compares with the store. */
export class ForecastJournal extends JournalWriter {
  readonly #identities = new Map<string, ForecastIdentity[]>();

  constructor() {
    super(devNull);
  }

  override write(line: JournalLine, urgency?: Urgency): LinePlace {
    if ((line.type === 'phase' || line.type === 'unit') && line.identity !== undefined) {
      const of = this.#identities.get(line.phase) ?? [];
      of.push({ identity: line.identity, unit: line.unit });
      this.#identities.set(line.phase, of);
    }
    return super.write(line, urgency);
  }

  identitiesOf(phase: string): readonly ForecastIdentity[] {
    return this.#identities.get(phase) ?? [];
  }
}

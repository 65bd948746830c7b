import type { Path } from '../parse/locate.js';
import { parseTemplate } from '../plan/template.js';
import type { Problems } from './problem.js';
import type { CheckWorld } from './world.js';

/** Also matches a name that `as` gives to an item. */
const PLACEHOLDER = /\{[A-Za-z_][\w-]*(?:\.[\w-]+)*\}/;

/**
 * The files that fingerprints name. Looking for them is asynchronous, which the check of a phase is not, and done only
 * where a person wants to know: a run finds out by itself.
 */
export class NamedFiles {
  readonly #named: { readonly path: Path; readonly entry: string; readonly outputs: readonly string[] }[] = [];

  /** `outputs`: what phases of the same flow make. */
  add(path: Path, entry: string, outputs: readonly string[]): void {
    const { segments } = parseTemplate(entry);
    const text = segments.map((segment) => (segment.type === 'text' ? segment.text : '{placeholder}')).join('');
    if (!PLACEHOLDER.test(text)) this.#named.push({ path: [...path], entry: text, outputs });
  }

  async check(world: CheckWorld, problems: Problems): Promise<void> {
    if (!world.unmatched) return;
    for (const { path, entry, outputs } of this.#named) {
      const unmatched = await world.unmatched(entry, outputs);
      if (unmatched) problems.warn(path, 'matches-nothing', { message: unmatched.message, hint: unmatched.hint });
    }
  }
}

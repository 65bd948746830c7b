import { BUILT_IN_RUNNERS, noSuchRunner } from '../model/config.js';
import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';
import type { CheckWorld } from './world.js';

/**
 * The runners that a flow names. Reading the settings, which define runners, is asynchronous, which the check of a
 * phase is not; for most flows, which name none or a built-in one, they are not read at all.
 */
export class NamedRunners {
  readonly #named = new Map<string, { readonly path: Path; readonly name: string }>();

  name(path: Path, name: string): void {
    if ((BUILT_IN_RUNNERS as readonly string[]).includes(name) || name.includes('{')) return;
    this.#named.set(path.join('\0'), { path, name });
  }

  async check(world: CheckWorld, problems: Problems): Promise<void> {
    if (this.#named.size === 0) return;
    const known = await world.runners();
    for (const { path, name } of this.#named.values()) {
      if (known === undefined || known.includes(name)) continue;
      const { message, hint } = noSuchRunner(name, known);
      problems.error(path, 'unknown-runner', { message, hint, suggest: { name, known } });
    }
  }
}

import { modelRole, noSuchRole } from '../model/config.js';
import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';
import type { CheckWorld } from './world.js';

/**
 * The model roles that a flow names: `{{strong}}`. The settings define them, and are read once, at the end, only for a
 * flow that names one.
 */
export class NamedRoles {
  readonly #named = new Map<string, { readonly path: Path; readonly role: string; readonly of: string | undefined }>();

  /** `agent`: the model is in the file of that agent, which the phase names at `path`. */
  name(path: Path, model: unknown, agent?: string): void {
    const role = typeof model === 'string' ? modelRole(model) : undefined;
    if (role !== undefined) this.#named.set(path.join('\0'), { path, role, of: agent });
  }

  async check(world: CheckWorld, problems: Problems): Promise<void> {
    if (this.#named.size === 0) return;
    const known = await world.models();
    for (const { path, role, of } of this.#named.values()) {
      if (known === undefined || known.includes(role)) continue;
      const { message, hint } = noSuchRole(role);
      const where = of === undefined ? '' : ` (the agent ${of} names it)`;
      problems.error(path, 'unknown-model', { message: `${message}${where}`, hint, suggest: { name: role, known } });
    }
  }
}

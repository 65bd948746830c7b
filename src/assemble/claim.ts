import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { dropClaim } from '../store/claim-file.js';
import { claimOrWait } from '../store/wait-for-claim.js';
import type { Project } from '../util/project.js';
import { whyUnwritableAt } from '../util/why-unwritable.js';
import { assembledFolder } from './folder.js';

type Claimed = { readonly release: () => void } | { readonly aborted: true } | { readonly failed: string };

/** How often a holder touches its claim, so that other machines see that it is alive. */
const SIGN_OF_LIFE_MS = 15_000;

/** The right to plan one request, against other processes; waits while another one has it. */
export async function claimRequest(
  project: Project,
  inputId: string,
  { signal, onWait }: { readonly signal?: AbortSignal; readonly onWait: (holder: string) => void },
): Promise<Claimed> {
  const path = join(assembledFolder(project), `${inputId.slice(0, 16)}.claim`);
  const acquired = await claimOrWait(path, { signal, onWait }, project.clock);
  if ('aborted' in acquired) return acquired;
  if ('failed' in acquired) return { failed: whyUnwritableAt(path, acquired.failed) };
  const pulse = setInterval(() => touch(path, project.clock.now() / 1_000), SIGN_OF_LIFE_MS).unref();
  return {
    release: () => {
      clearInterval(pulse);
      dropClaim(acquired.own);
    },
  };
}

function touch(path: string, now: number): void {
  try {
    utimesSync(path, now, now);
  } catch {
    // Another process removed the claim: the same may then be planned twice, and both plans are stored.
  }
}

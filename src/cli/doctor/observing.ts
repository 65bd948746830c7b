import { observeSupport } from '../../observe/support.js';
import type { Check } from './check.js';

/** Optional: without it, only declared inputs and what agents' clients report count. */
export const checkObserving: Check = async ({ project }) => {
  const name = 'observing';
  const support = await observeSupport(project);
  if ('strace' in support) {
    return [{ name, status: 'ok', message: `${support.strace} sees what cross-run phases read` }];
  }
  const { missing, hint } = support;
  const message = `what cross-run phases read is not seen: ${missing}`;
  return [{ name, status: 'absent', message, ...(hint !== undefined && { hint }) }];
};

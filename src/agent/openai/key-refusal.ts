import type { RunnerConfig } from '../../model/config.js';

/** A user's key goes to an address that a project chose only if the user has allowed it. */
export function keyRefusal(
  name: string,
  { keyNeedsLeave, apiKeyEnv, baseUrl }: RunnerConfig,
): { readonly error: string; readonly hint: string } | undefined {
  if (!keyNeedsLeave || apiKeyEnv === undefined || baseUrl === undefined) return undefined;
  const { origin } = new URL(baseUrl);
  const error = `the project's settings of runner ${name} would send the key in ${apiKeyEnv} to ${origin}`;
  const once = `--allow-key ${apiKeyEnv}=${origin}`;
  return {
    error,
    hint: `if you want that: taskflow config set --user allow.keys.${apiKeyEnv} ${origin}, or once ${once}`,
  };
}

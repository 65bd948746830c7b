import { loadConfig } from '../../config/load.js';
import { Secrets } from '../../run/core/secrets.js';
import type { Project } from '../../util/project.js';

/** Takes the values of the variables that the settings name (keys, tokens of runners) out of a text. */
export async function settingsMask(project: Project): Promise<(text: string) => string> {
  const { config } = await loadConfig(project);
  const names = Object.values(config.runners).flatMap(({ apiKeyEnv, env = [] }) => [
    ...(apiKeyEnv === undefined ? [] : [apiKeyEnv]),
    ...env,
  ]);
  const secrets = new Secrets();
  const secret = { type: 'string', required: false, secret: true } as const;
  for (const name of names) {
    const value = project.env[name];
    if (value !== undefined) secrets.add({ [name]: secret }, { [name]: value });
  }
  return (text) => (secrets.any ? secrets.maskWhole(text) : text);
}

import { allowKeys } from '../../config/allowed-keys.js';
import type { Config } from '../../model/config.js';
import type { Invocation } from '../boot/command.js';
import { ALLOW_KEY_FLAG } from '../flags/common-flags.js';

/** The settings with the keys that the command line allows; or what is wrong with it. */
export function withAllowedKeys({ flags }: Invocation, config: Config): Config | { readonly problem: string } {
  if (!flags.given().includes(ALLOW_KEY_FLAG.name)) return config;
  const allowed: Record<string, string[]> = {};
  for (const pair of flags.list(ALLOW_KEY_FLAG.name)) {
    const [, name, address] = /^([A-Za-z_]\w*)=(https?:\/\/\S+)$/.exec(pair) ?? [];
    if (name === undefined || !URL.canParse(address!)) {
      return { problem: `--allow-key is NAME=URL, such as OPENAI_API_KEY=https://api.example.com, not ${pair}` };
    }
    allowed[name] = [...(Object.hasOwn(allowed, name) ? allowed[name]! : []), address!];
  }
  return allowKeys(config, allowed);
}

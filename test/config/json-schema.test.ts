import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfigText } from '../../src/config/check-file.js';
import { configJsonSchema } from '../../src/config/json-schema.js';
import { RUNNER_SETTINGS, SETTINGS } from '../../src/config/settings.js';

const validate = new Ajv({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(configJsonSchema());

/** Both say the same of a file: the checker, and an editor that goes by the schema. */
async function opinions(text: string): Promise<{ checker: boolean; schema: boolean }> {
  const { problems } = await checkConfigText(text, 'config.yaml');
  return { checker: problems.length === 0, schema: validate(parse(text)) };
}

describe('the JSON Schema of config.yaml', () => {
  it.each([
    'runner: pi\nmodel: sonnet\nconcurrency: 8\n',
    'cache: { maxBytes: 1GB, maxEntries: 100, maxAge: 90d, dir: .cache }\n',
    'cache:\n',
    'cache: { signingKey: { env: MY_KEY } }\n',
    'iteration: on\n',
    'iteration: off\n',
    'iteration: { mode: always, ttl: 24h, enabled: yes }\n',
    'limits: { outputBytes: 32 MB, items: 10 }\n',
    'runners:\n  local: { type: openai, baseUrl: "http://127.0.0.1:11434/v1", model: qwen3 }\n',
    'runners:\n  mine: { command: [node, agent.mjs], format: text, version: 1, env: [HOME], pinVersion: true }\n',
    'allow: { keys: { OPENAI_API_KEY: "https://example.com/v1" } }\n',
    'safe: { projects: [/srv/a, "/srv/b/*"] }\n',
  ])('takes what is right: %j', async (text) => {
    expect(await opinions(text)).toEqual({ checker: true, schema: true });
  });

  it.each([
    'runer: pi\n',
    'runner: 3\n',
    'concurrency: 0\n',
    'cache: { maxBytes: lots }\n',
    'cache: { maxAge: soon }\n',
    'cache: { size: 3 }\n',
    'cache: 3\n',
    'iteration: sometimes\n',
    'runners: { mine: { type: magic } }\n',
    'runners: { mine: { command: [] } }\n',
    'runners: { "a b": { type: pi } }\n',
    'runners: { mine: { baseUrl: ftp://x } }\n',
    'allow: { keys: { KEY: nonsense } }\n',
    'safe: { projects: here }\n',
  ])('refuses what is wrong: %j', async (text) => {
    expect(await opinions(text)).toEqual({ checker: false, schema: false });
  });

  it('has every setting, with its help', () => {
    const text = JSON.stringify(configJsonSchema());
    for (const { help } of [...SETTINGS, ...RUNNER_SETTINGS]) expect(text).toContain(JSON.stringify(help).slice(1, -1));
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRunner } from '../../src/agent/create-runner.js';
import { projectIn, requestIn } from '../support/runner-request.js';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'client-environment-'));
  // Answers like pi, with its environment.
  writeFileSync(
    join(root, 'fake.mjs'),
    `const content = [{ type: 'text', text: JSON.stringify(process.env) }];
     console.log(JSON.stringify({ type: 'message_end', message: { role: 'assistant', content, stopReason: 'stop' } }));
     console.log(JSON.stringify({ type: 'agent_end' }));`,
  );
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function seen(env: Record<string, string>): Promise<Record<string, string>> {
  const project = projectIn(root, env);
  const config = { type: 'pi', command: [process.execPath, join(root, 'fake.mjs')] } as const;
  const result = await createRunner('pi', config, project).run(requestIn(project));
  expect(result.failure).toBeUndefined();
  return JSON.parse(result.text) as Record<string, string>;
}

test('a client is given the environment of the request and is kept from traffic of its own', async () => {
  expect(await seen({ ANTHROPIC_API_KEY: 'k' })).toMatchObject({ ANTHROPIC_API_KEY: 'k', PI_OFFLINE: '1' });
});

test('what the person decided about that traffic holds', async () => {
  expect(await seen({ PI_OFFLINE: '0' })).toMatchObject({ PI_OFFLINE: '0' });
});

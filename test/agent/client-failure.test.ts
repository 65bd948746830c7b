import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
afterEach(() => project?.remove());

type Client = 'pi' | 'claude' | 'codex';

interface Behaviour {
  readonly after?: string;
  /** What it prints when it is started again. */
  readonly later?: readonly object[];
}

/** A client that prints these events, and leaves a line for each time that it is started. */
async function runWith(
  client: Client,
  events: readonly object[],
  { after = 'exit 0', later = events }: Behaviour = {},
) {
  const lines = (list: readonly object[]) => list.map((event) => `${JSON.stringify(event)}\n`).join('');
  project = createTestProject({
    'flow.yaml': `name: down\nrunner: ${client}\nphases: [{ id: ask, task: hello }]\n`,
    'events.jsonl': lines(events),
    'later.jsonl': lines(later),
  });
  const choose = '[ "$(wc -l < starts)" -eq 1 ] && cat events.jsonl || cat later.jsonl';
  const script = `cat > /dev/null; echo x >> starts; ${choose}; ${after}`;
  const settings = { runners: { [client]: { type: client, command: ['sh', '-c', script, client] } } };
  project.write('.pi/taskflows/config.yaml', JSON.stringify(settings));
  const { stdout } = await project.run(['run', './flow.yaml', '--json']);
  const { phases } = JSON.parse(stdout) as {
    phases: { status: string; error: { message: string; hint?: string } }[];
  };
  const starts = readFileSync(join(project.root, 'starts'), 'utf8').trim().split('\n').length;
  const { status, error } = phases[0]!;
  return { starts, status, error };
}

const answered = (errorMessage: string) => ({
  type: 'message_end',
  message: { role: 'assistant', content: [], stopReason: 'error', errorMessage },
});
const agentEnd = { type: 'agent_end' };
const retry = { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 2000 };
const result = (text: string, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: true,
  result: text,
  ...more,
});
const failed = (message: string) => ({ type: 'turn.failed', error: { message } });

describe('a client that cannot reach its provider', () => {
  it.each([
    ['pi', [answered('Connection error.'), retry, answered('Connection error.'), agentEnd], 'models.json'],
    ['claude', [result('API Error: Unable to connect to API (ConnectionRefused)')], 'ANTHROPIC_BASE_URL'],
    ['codex', [failed('error sending request for url (http://127.0.0.1:9/v1/responses)')], 'config.toml'],
  ] as const)(
    '%s has tried again by itself: it is started once, and says what to look at',
    async (client, events, place) => {
      const { starts, error } = await runWith(client, events, { after: client === 'pi' ? 'exit 0' : 'exit 1' });
      expect(starts).toBe(1);
      expect(error.hint).toContain(place);
      expect(error.hint).toContain('server up');
    },
  );

  it('is ended when it would wait for the network for ever', async () => {
    const news = {
      type: 'error',
      message: 'Reconnecting... waiting for network (Connection failed: error sending request)',
    };
    const { starts, error } = await runWith('codex', [news, news, news], { after: 'sleep 300' });
    expect(starts).toBe(1);
    expect(error).toMatchObject({ message: 'codex: Connection failed: error sending request' });
    expect(error.hint).toContain('config.toml');
  });

  it('is tried again where it has not done so itself', async () => {
    const answer = { role: 'assistant', content: [{ type: 'text', text: 'hello' }], stopReason: 'stop' };
    const later = [{ type: 'message_end', message: answer }, agentEnd];
    const { starts, status } = await runWith('pi', [answered('Connection error.'), agentEnd], { later });
    expect({ starts, status }).toEqual({ starts: 2, status: 'done' });
  });
});

describe('a client whose key is refused', () => {
  it.each([
    ['pi', [answered('401 Incorrect API key provided'), agentEnd], 'OPENAI_API_KEY'],
    ['claude', [result('Invalid API key · Please run /login', { api_error_status: 401 })], 'ANTHROPIC_API_KEY'],
    ['codex', [failed('unexpected status 401 Unauthorized')], 'codex login'],
  ] as const)('%s says which variable, or how to log in', async (client, events, place) => {
    const { starts, error } = await runWith(client, events, { after: client === 'pi' ? 'exit 0' : 'exit 1' });
    expect(starts).toBe(1);
    expect(error.hint).toContain(place);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { executions, linesOf, topics } from './support.js';

let project: TestProject;
afterEach(() => project?.remove());

/** Each topic notes that it began and that it ended; only what ended may be kept. */
const SLOW = `name: slow
concurrency: 4
args: { topic: {} }
phases:
  - { id: setup, type: script, run: 'echo x >> setup.count; echo ready' }
  - id: work
    type: script
    dependsOn: [setup]
    run: 'echo "$T" >> begun; sleep 0.05; echo "$T" >> ended; echo "done $T"'
    env: { T: "{args.topic}" }
`;
const ARGS = ['batch', 'flow.yaml', '--over', 'topics.txt', '--jobs', '8'];

/** Starts a batch and ends it with a signal once so many rows have ended. */
async function endAfter(ended: number, signal: NodeJS.Signals): Promise<number | null> {
  const batch = startCli(ARGS, { cwd: project.root });
  while (executions(project, 'ended') < ended) await sleep(5);
  batch.kill(signal);
  return (await batch.done).status;
}

describe('a batch that is ended before its end', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('loses nothing that was done: %s', async (signal) => {
    project = createTestProject({ 'flow.yaml': SLOW, 'topics.txt': topics(40) });
    const status = await endAfter(10, signal);
    if (signal === 'SIGTERM') expect(status).toBe(130);
    await sleep(100); // Scripts that outlive a killed parent write their last line.
    const kept = new Set(journaledRows());
    const begunBefore = executions(project, 'begun');
    expect(begunBefore).toBeLessThan(40);

    const resumed = await project.run([...ARGS, '--resume', '--json']);
    expect(resumed.status).toBe(0);
    const result = JSON.parse(resumed.stdout);
    expect(result).toMatchObject({ total: 40, done: 40, failed: 0 });
    expect(result.rows.map((row: { output: string }) => row.output)).toEqual(
      Array.from({ length: 40 }, (_, index) => `done Topic ${index + 1}`),
    );
    // Nothing whose end was written is paid for twice, and everything is there in the end.
    const again = linesOf(project, 'begun').slice(begunBefore);
    expect(again.filter((topic) => kept.has(`done ${topic}`))).toEqual([]);
    expect(kept.size + again.length).toBe(40);
    expect(kept.size).toBeGreaterThanOrEqual(5);
    expect(executions(project, 'setup.count')).toBe(1);
  });
});

/** Outputs of the rows' phases that the killed process had written down. */
function journaledRows(): string[] {
  const runs = join(project.root, '.pi/taskflows/runs');
  const [runId] = readdirSync(runs).filter((name) => /^\d/.test(name));
  return readFileSync(join(runs, runId!, 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"phase"') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { phase: string; status: string; output: { text: string } })
    .filter(({ phase, status }) => phase.endsWith('/work') && status === 'done')
    .map(({ output }) => output.text);
}

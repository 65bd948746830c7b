import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../support/cli.js';
import { sourceOf } from '../support/imports.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.js';

let project: TestProject;
let receiver: OtlpReceiver;
beforeEach(async () => {
  project = createTestProject();
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  project.remove();
  await receiver.close();
});

const flow = (...phases: object[]) => JSON.stringify({ name: 'demo', phases });
const say = (id: string, more: object = {}) => ({ id, type: 'script', run: ['echo', `said ${id}`], ...more });
const kept = { cache: { scope: 'cross-run', fingerprint: [] } };

describe('--otel', () => {
  it('sends the run, and changes neither what it prints nor its status', async () => {
    project.write(
      'flow.json',
      flow(say('a'), { id: 'b', type: 'script', run: 'echo oh >&2; exit 3', dependsOn: ['a'] }),
    );
    await project.run(['run', './flow.json', '--fresh']);
    const plain = await project.run(['run', './flow.json', '--fresh']);
    const sent = await project.run(['run', './flow.json', '--fresh', `--otel=${receiver.url}`]);
    expect([sent.status, sent.stdout]).toEqual([1, plain.stdout]);
    const shape = (text: string) => text.replaceAll(/\d[\d-]*[a-z0-9-]*|\d+(?:\.\d+)?m?s/g, '#');
    expect(shape(sent.stderr)).toBe(shape(plain.stderr));
    expect(receiver.problems).toEqual([]);
    expect(receiver.orphans()).toEqual([]);
    expect(receiver.span('b')).toMatchObject({ status: { code: 2 }, values: { 'error.type': 'exit' } });
  });

  it('by the variables of OpenTelemetry, for a run in which nothing changed as well', async () => {
    project.write('flow.json', flow(say('a', kept)));
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    for (let i = 0; i < 3; i += 1) {
      const { status, stdout } = await project.run(['run', './flow.json', '--fresh'], { env });
      expect([status, stdout]).toEqual([0, 'said a\n']);
    }
    const phases = receiver.spans.filter(({ name }) => name === 'a');
    expect(phases.map(({ values }) => values['taskflow.reuse.hit'])).toEqual([false, true, true]);
    await project.run(['run', './flow.json'], { env: { ...env, OTEL_SDK_DISABLED: 'true' } });
    await project.run(['run', './flow.json']);
    expect(receiver.posts).toHaveLength(3);
  });

  it('a batch, a run that is resumed, and any run later', async () => {
    project.write('row.json', JSON.stringify({ ...JSON.parse(flow(say('a'))), args: { n: {} } }));
    project.write('rows.txt', '1\n2\n');
    await project.run(['batch', './row.json', '--over', 'rows.txt', '--otel', receiver.url]);
    expect(receiver.span('row 2').values).toMatchObject({ 'taskflow.row.status': 'success' });
    project.write('flow.json', flow(say('x'), { id: 'ok', type: 'approval', task: 'go?', dependsOn: ['x'] }));
    const paused = await project.run(['run', './flow.json', `--otel=${receiver.url}`]);
    expect(paused.status).toBe(4);
    expect(receiver.span('ok')).toMatchObject({ status: {}, values: { 'taskflow.phase.status': 'paused' } });
    const resumed = await project.run(['resume', 'last', '--yes', `--otel=${receiver.url}`]);
    expect(resumed.status).toBe(0);
    const before = receiver.spans.length;
    const later = await project.run(['trace', 'last', `--otel=${receiver.url}`]);
    expect([later.status, later.stdout, later.stderr]).toEqual([0, '', expect.stringMatching(/^sent \d spans\n$/)]);
    const again = receiver.spans.slice(before).map(({ spanId }) => spanId);
    expect(receiver.spans.slice(before - again.length, before).map(({ spanId }) => spanId)).toEqual(again);
    expect(receiver.problems).toEqual([]);
  });

  it('a collector that is away is one warning', async () => {
    project.write('flow.json', flow(say('a')));
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    const { status, stdout, stderr } = await project.run(['run', './flow.json', '--json'], { env });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success' });
    expect(stderr.match(/the trace was not sent to http:\/\/127.0.0.1:1\/v1\/traces: ECONNREFUSED/g)).toHaveLength(1);
    expect((await project.run(['trace', 'last', '--otel=http://127.0.0.1:1'])).status).not.toBe(0);
  });

  it('a collector that never answers holds nobody up for longer than its time', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    project.write('flow.json', flow(say('a')));
    const startedAt = Date.now();
    const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const { status, stderr } = await project.run(['run', './flow.json', `--otel=http://127.0.0.1:${port}`], { env });
    silent.close();
    expect([status, stderr]).toEqual([0, expect.stringContaining('no answer in time')]);
    expect(Date.now() - startedAt).toBeLessThan(8_000);
  });

  it('an address that is none is refused before anything runs', async () => {
    project.write('flow.json', flow({ id: 'a', type: 'script', run: 'touch ran' }));
    const { status, stderr } = await project.run(['run', './flow.json', '--otel=nonsense']);
    expect([status, stderr]).toEqual([2, expect.stringContaining('--otel: nonsense is not an address')]);
    expect((await project.run(['runs'])).stdout).toBe('');
  });

  it('secrets stay here', async () => {
    const args = { token: { secret: true } };
    const fails = { id: 'a', type: 'script', run: ['./{args.token}'] };
    project.write('flow.json', JSON.stringify({ name: 'demo', args, phases: [fails] }));
    await project.run(['run', './flow.json', 'token=hunter2hunter2', `--otel=${receiver.url}`]);
    const text = JSON.stringify(receiver.spans, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
    expect(text).toContain('(secret token)');
    expect(text).not.toContain('hunter2');
  });

  it('nothing of it is loaded by a run without it', () => {
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const [, path] of sourceOf(file).matchAll(/^(?:import|export) (?!type)[^;]*?from '(\.[^']+)'/gms)) {
        visit(join(dirname(file), path!).replace(/\.js$/, '.ts'));
      }
    };
    for (const file of ['cli/commands/run/run.ts', 'cli/run/run-flow.ts', 'cli/batch/execute-batch.ts']) visit(file);
    expect(reached).toContain('cli/run/otel.ts');
    expect([...reached].filter((file) => file.startsWith('report/otel/'))).toEqual([]);
  });
});

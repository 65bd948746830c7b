import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadFlow, runBatch } from '../../src/index.js';
import { exportRun } from '../../src/report/otel/export.js';
import { type OtelTarget, otelTarget } from '../../src/report/otel/target.js';
import { journalOf } from '../../src/run/history/runs-folder.js';
import { LIMITED_CONFIG, limitedAgent } from '../support/limited-agent.js';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.js';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
let receiver: OtlpReceiver | undefined;
beforeEach(() => {
  rig = createRig();
});
afterEach(async () => {
  rig.remove();
  await receiver?.close();
  receiver = undefined;
});

function targetOf(url: string, env: Record<string, string> = {}): OtelTarget {
  const target = otelTarget(env, url);
  if ('problem' in target) throw new Error(target.problem);
  return target;
}

async function exported(runId: string, env: Record<string, string> = {}): Promise<OtlpReceiver> {
  await receiver?.close();
  receiver = await startOtlpReceiver();
  const sent = await exportRun(rig.project, runId, targetOf(receiver.url, env));
  expect(receiver.problems).toEqual([]);
  expect(sent).toEqual({ spans: receiver.spans.length });
  return receiver;
}

const flow = (...phases: object[]) => ({ name: 'demo', phases });
const INNER = flow({ id: 'x', type: 'script', run: ['bin/tick', 'x', '{args.n}'] });

describe('a run as a trace', () => {
  it('has a span per run, phase, unit and attempt, each in its place', async () => {
    rig.write('inner.json', JSON.stringify({ ...INNER, args: { n: {} } }));
    const result = await rig.run(
      flow(
        { id: 'ask', type: 'agent', task: 'NAME: ask\nSAY: yes' },
        { id: 'each', type: 'map', over: ['a', 'b'], use: './inner.json', with: { n: '{item}' } },
        {
          id: 'both',
          type: 'parallel',
          branches: [
            { id: 'l', run: ['true'] },
            { id: 'r', run: ['true'] },
          ],
        },
        { id: 'sub', type: 'flow', use: './inner.json', with: { n: 'c' } },
      ),
    );
    expect(result.status).toBe('success');
    const got = await exported(result.runId);
    expect(got.orphans()).toEqual([]);
    expect(new Set(got.spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(got.spans.map(({ spanId }) => spanId)).size).toBe(got.spans.length);
    const root = got.span('invoke_workflow demo');
    expect(root.parentSpanId).toBeUndefined();
    expect(root.values).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'demo',
      'taskflow.run.id': result.runId,
      'taskflow.run.status': 'success',
    });
    const ask = got.span('ask');
    expect(ask.parentSpanId).toBe(root.spanId);
    expect(ask.values).toMatchObject({ 'taskflow.phase.kind': 'agent', 'taskflow.reuse.hit': false });
    expect(ask.values['taskflow.output.bytes']).toBe('yes'.length);
    const call = got.span('invoke_agent rig');
    expect(call).toMatchObject({ parentSpanId: ask.spanId, kind: 3, status: {} });
    expect(call.values).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'rig',
      'gen_ai.request.model': 'rig-1',
      'gen_ai.usage.input_tokens': 0,
    });
    expect(got.span('both l').parentSpanId).toBe(got.span('both').spanId);
    expect(got.span('sub/x').parentSpanId).toBe(got.span('sub').spanId);
    const inEach = got.spans.filter(({ name }) => /^each\[.*\]\/x$/.test(name));
    expect(inEach.map(({ parentSpanId }) => parentSpanId)).toEqual([got.span('each').spanId, got.span('each').spanId]);
    for (const span of got.spans)
      expect([span.name, span.start >= root.start, span.end <= root.end]).toEqual([span.name, true, true]);
    // What was asked and answered stays here.
    expect(JSON.stringify(got.spans, (_key, value) => (typeof value === 'bigint' ? `${value}` : value))).not.toContain(
      'SAY:',
    );
  });

  it('says why something was reused, how old it is and what that saved', async () => {
    const cached = ticking('a', { cache: { scope: 'cross-run', fingerprint: [] } });
    await rig.run(flow(cached));
    const again = await rig.run(flow(cached));
    const got = await exported(again.runId);
    const { values, start, end } = got.span('a');
    expect(values).toMatchObject({ 'taskflow.reuse.hit': true, 'taskflow.reuse.scope': 'cross-run' });
    expect(values['taskflow.reuse.age_ms']).toBeGreaterThanOrEqual(0);
    expect(values['taskflow.reuse.saved_ms']).toBeGreaterThan(0);
    expect(start).toBe(end);
    expect(got.spans).toHaveLength(2);
  });

  it('has each attempt with its own usage, and what failed as an error', async () => {
    rig.write('.pi/taskflows/config.yaml', LIMITED_CONFIG);
    rig.write('bin/limited', limitedAgent({ ms: 700 }), 0o755);
    const result = await rig.run(
      flow({ id: 'a', type: 'agent', task: 'x' }, { id: 'bad', type: 'script', run: 'exit 3', optional: true }),
    );
    const got = await exported(result.runId);
    const [first, second] = got.spans.filter(({ name }) => name === 'invoke_agent limited');
    expect(first).toMatchObject({
      status: { code: 2 },
      values: { 'error.type': 'usage-limit', 'taskflow.cost.usd': 0.01 },
    });
    expect(second).toMatchObject({ status: {}, values: { 'taskflow.attempt': 2, 'gen_ai.usage.input_tokens': 2 } });
    expect(second!.values['taskflow.cost.usd']).toBeCloseTo(0.02);
    // The wait lies between them.
    expect(second!.start - first!.end).toBeGreaterThan(300_000_000n);
    expect(got.span('bad')).toMatchObject({ status: { code: 2 }, values: { 'error.type': 'exit' } });
    expect(got.span('invoke_workflow demo').events).toMatchObject([{ name: 'taskflow.usage_limit' }]);
  });

  it('the same run has the same spans whenever it is sent', async () => {
    const { runId } = await rig.run(flow(ticking('a'), ticking('b', { dependsOn: ['a'] })));
    const first = [...(await exported(runId)).spans];
    expect((await exported(runId)).spans).toEqual(first);
  });

  it('is a part of the trace around it', async () => {
    const { runId } = await rig.run(flow(ticking('a')));
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const got = await exported(runId, { TRACEPARENT: `00-${traceId}-${spanId}-01` });
    expect(got.spans.every((span) => span.traceId === traceId)).toBe(true);
    expect(got.span('invoke_workflow demo').parentSpanId).toBe(spanId);
    expect(got.orphans(spanId)).toEqual([]);
  });

  it.each([
    '',
    '00-0-0-00',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    'garbage',
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])('and not with the parent %j', async (TRACEPARENT) => {
    expect(otelTarget({ TRACEPARENT }, 'http://127.0.0.1:1')).not.toHaveProperty('parent');
  });

  it('of a run that was killed: what had begun has not ended', async () => {
    const { runId } = await rig.run(
      flow(ticking('a'), { id: 'sub', type: 'flow', def: INNER_FIXED, dependsOn: ['a'] }),
    );
    const path = journalOf(rig.project, runId);
    const lines = rig.read(path.slice(rig.root.length + 1)).split('\n');
    const cut = lines.findIndex((line) => line.includes('"type":"start"') && line.includes('"sub/x"'));
    writeFileSync(path, `${lines.slice(0, cut + 1).join('\n')}\n{"type":"phase","at":17`);
    const got = await exported(runId);
    expect(got.orphans()).toEqual([]);
    expect(got.span('sub/x')).toMatchObject({ status: { code: 2, message: 'it has not ended' } });
    expect(got.span('sub').status.code).toBe(2);
    expect(got.span('invoke_workflow demo').values['taskflow.run.status']).toBe('running');
  });

  it('a phase that a gate sends back has a span for each round', async () => {
    const learns = 'test -e ../seen && echo good || { touch ../seen; echo bad; }';
    const result = await rig.run(
      flow(
        { id: 'sub', type: 'flow', def: flow({ id: 'x', type: 'script', run: learns }) },
        { id: 'g', type: 'gate', eval: ['{steps.sub.output} == good'], onBlock: 'retry', dependsOn: ['sub'] },
      ),
    );
    expect(result.status).toBe('success');
    const got = await exported(result.runId);
    const named = (name: string) => got.spans.filter((span) => span.name === name);
    expect(new Set(got.spans.map(({ spanId }) => spanId)).size).toBe(got.spans.length);
    expect(named('sub')).toHaveLength(2);
    expect(named('sub/x').map(({ parentSpanId }) => parentSpanId)).toEqual(named('sub').map(({ spanId }) => spanId));
    expect(got.orphans()).toEqual([]);
  });

  it('a batch goes in several requests, none of them too large', async () => {
    rig.write(
      'row.json',
      JSON.stringify({ ...flow({ id: 'a', type: 'script', run: ['echo', '{args.n}'] }), args: { n: {} } }),
    );
    const loaded = await loadFlow(rig.project, './row.json');
    const rows = Array.from({ length: 400 }, (_, n) => ({ n }));
    const result = await runBatch(rig.project, loaded, rows).result;
    const got = await exported(result.runId);
    // A span of the run; and for each row one of its own, its phase and its attempt.
    expect(got.spans).toHaveLength(1 + 400 * 3);
    expect(got.posts.map(({ spans }) => spans)).toEqual([500, 500, 201]);
    expect(got.orphans()).toEqual([]);
    expect(got.span('row 7').parentSpanId).toBe(got.span('invoke_workflow demo').spanId);
  });
});

const INNER_FIXED = flow({ id: 'x', type: 'script', run: ['bin/tick', 'x'] });

describe('where it goes', () => {
  it.each<[string, Record<string, string>, string | undefined, string]>([
    ['nothing is said', {}, undefined, 'http://localhost:4318/v1/traces'],
    [
      'a base',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://o.example/otlp/' },
      undefined,
      'https://o.example/otlp/v1/traces',
    ],
    ['the very address', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h:1/x' }, undefined, 'http://h:1/x'],
    ['the flag', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://no:1' }, 'http://h:4318', 'http://h:4318/v1/traces'],
    ['the flag, with its path', {}, 'http://h:4318/v1/traces', 'http://h:4318/v1/traces'],
  ])('%s', (_what, env, given, url) => {
    expect(otelTarget(env, given)).toMatchObject({ url });
  });

  it('with the headers and the names that the person has set', async () => {
    const { runId } = await rig.run(flow(ticking('a')));
    const got = await exported(runId, {
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-team = a=b,nonsense,=x',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci,service.name=other',
      OTEL_SERVICE_NAME: 'nightly',
    });
    expect(got.posts[0]?.headers).toMatchObject({ authorization: 'Bearer abc', 'x-team': 'a=b' });
    expect(got.posts[0]?.path).toBe('/v1/traces');
    expect(got.resources[0]).toMatchObject({ 'service.name': 'nightly', 'deployment.environment.name': 'ci' });
  });

  it.each([
    [{}, 'ftp://h', 'not an address'],
    [{}, 'nonsense', 'not an address'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, undefined, 'only HTTP'],
  ])('is refused: %j %s', (env, given, problem) => {
    expect(otelTarget(env as Record<string, string>, given)).toMatchObject({
      problem: expect.stringContaining(problem),
    });
  });
});

describe('a collector that', () => {
  const slow = { OTEL_EXPORTER_OTLP_TIMEOUT: '1000' };

  it.each<[string, (response: ServerResponse, call: number) => void, string, number]>([
    ['answers 500', (response) => void response.writeHead(500).end('no'), 'the server answered 500', 1],
    ['answers 503, and again', (response) => void response.writeHead(503).end(), 'the server answered 503', 2],
    [
      'redirects',
      (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
      'the server answered 307',
      1,
    ],
    ['hangs', () => {}, 'no answer in time', 1],
    ['hangs up', (response) => void response.destroy(), 'ECONNRESET', 2],
    [
      'takes a part',
      (response) => void response.end('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}'),
      'the server refused 3 spans',
      1,
    ],
  ])('%s', async (_what, answer, problem, tries) => {
    const { runId } = await rig.run(flow(ticking('a')));
    receiver = await startOtlpReceiver(answer);
    const startedAt = Date.now();
    const sent = await exportRun(rig.project, runId, targetOf(receiver.url, slow));
    expect(sent).toEqual({ problem: `the trace was not sent to ${receiver.url}/v1/traces: ${problem}` });
    expect(receiver.posts).toHaveLength(tries);
    expect(Date.now() - startedAt).toBeLessThan(3_000);
  });

  it('is away for a moment gets it', async () => {
    const { runId } = await rig.run(flow(ticking('a')));
    receiver = await startOtlpReceiver((response, call) => void response.writeHead(call === 1 ? 503 : 200).end());
    expect(await exportRun(rig.project, runId, targetOf(receiver.url))).toEqual({ spans: 3 });
    expect(receiver.posts).toHaveLength(2);
  });

  it('is not there', async () => {
    const { runId } = await rig.run(flow(ticking('a')));
    const sent = await exportRun(rig.project, runId, targetOf('http://user:secret@127.0.0.1:1/?key=secret'));
    expect(sent).toMatchObject({ problem: expect.stringContaining('127.0.0.1:1/v1/traces: ECONNREFUSED') });
    expect(JSON.stringify(sent)).not.toContain('secret');
  });
});

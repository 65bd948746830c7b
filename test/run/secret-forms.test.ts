import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { sha256Hex } from '../../src/util/digest.js';
import { runCli } from '../support/cli.js';
import { createRig, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const SECRET = 'pa55/wörd+"q" ?key~~';
const flow = (phases: object[]) => ({ name: 'hush', args: { token: { secret: true, required: true } }, phases });

const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const ascii = (text: string) =>
  text.replaceAll(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
const json = JSON.stringify(SECRET).slice(1, -1);
const percent = encodeURIComponent(SECRET);

/** As programs write it. */
const FORMS: Record<string, string> = {
  base64: base64(SECRET),
  'base64, after one byte': base64(`a${SECRET}z`),
  'base64, after two bytes': base64(`bob:${SECRET}:x`.slice(2)),
  'base64 of a login': base64(`admin:${SECRET}`),
  'base64 for addresses': base64url(SECRET),
  'base64 for addresses, within a text': base64url(`?${SECRET}?`),
  JSON: json,
  'JSON within JSON': JSON.stringify(json).slice(1, -1),
  'JSON in ASCII': ascii(json),
  'JSON of PHP': json.replaceAll('/', '\\/'),
  'an address': percent,
  'an address in small letters': percent.replaceAll(/%../g, (hex) => hex.toLowerCase()),
  'a form': percent.replaceAll('%20', '+').replaceAll('~', '%7E'),
};

/** Texts that hold it, whatever they are written in. */
function holds(text: string): boolean {
  const decoded = [text];
  for (const [word] of text.matchAll(/[\w+/-]{12,}={0,2}/g)) {
    for (const from of [0, 1, 2, 3]) decoded.push(Buffer.from(word.slice(from), 'base64').toString('utf8'));
  }
  const plain = (one: string) => {
    let said = one.replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    said = said.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
    return said.replaceAll('\\', '').replaceAll('+', ' ');
  };
  const wanted = plain(SECRET);
  return decoded.some((one) => plain(one).includes(wanted));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

const leaks = () => filesUnder(join(rig.root, '.pi')).filter((path) => holds(readFileSync(path, 'utf8')));

it.each(Object.entries(FORMS))('the check of these tests knows it in %s', (_name, form) => {
  expect(holds(`before ${form} after`)).toBe(true);
});

describe('a secret in another form', () => {
  it.each(Object.entries(FORMS))('%s: is in no result, event, journal or message', async (_name, form) => {
    rig.write('said.txt', `<${form}>\n`);
    const phases = [
      { id: 'says', type: 'script', run: ['cat', 'said.txt'], cache: { scope: 'cross-run', fingerprint: [] } },
      { id: 'fails', type: 'script', run: 'cat said.txt >&2; exit 1', dependsOn: ['says'] },
    ];
    const events: RunEvent[] = [];
    const result = await rig.run(flow(phases), { args: { token: SECRET }, onEvent: (event) => events.push(event) });
    expect(result.error?.detail ?? result.error?.message).toContain('(secret token)');
    expect(holds(JSON.stringify(result))).toBe(false);
    expect(events.filter((event) => holds(JSON.stringify(event)))).toEqual([]);
    expect(leaks()).toEqual([]);
  });

  it('is in nothing that the command line writes', async () => {
    rig.write('said.txt', Object.values(FORMS).join('\n'));
    rig.write('flow.json', JSON.stringify(flow([{ id: 'a', type: 'script', run: 'cat said.txt >&2; exit 1' }])));
    const env = { GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_STEP_SUMMARY: join(rig.root, 'job.md') };
    const args = ['run', './flow.json', '--arg', `token=${SECRET}`, '--junit', 'r.xml', '--events'];
    const { stdout, stderr, status } = await runCli(args, { cwd: rig.root, env });
    expect(status).toBe(1);
    for (const text of [stdout, stderr, rig.read('job.md'), rig.read('r.xml')]) {
      expect(text).toContain('(secret token)');
      expect(holds(text)).toBe(false);
    }
  });

  it('is hidden as the name of a member too, and what the engine calls its own stays', async () => {
    const phases = [{ id: 'a', type: 'script', run: ['cat'], input: '{"{args.token}": 1}', output: 'json' }];
    const result = await rig.run(flow(phases), { args: { token: 'durationMs' } });
    expect(result.phases[0]).toMatchObject({ json: { '(secret token)': 1 }, durationMs: expect.any(Number) });
    expect(result.durationMs).toEqual(expect.any(Number));
  });
});

it.each(['base64', 'openssl base64'])('a long secret that %s breaks into lines is hidden', async (encode) => {
  const token = Array.from({ length: 20 }, (_, i) => sha256Hex(`${i}`).slice(0, 7)).join('-');
  const run = `printf %s "$TOKEN" | ${encode}`;
  const said = await rig.run(flow([{ id: 'a', type: 'script', run, env: { TOKEN: '{args.token}' } }]), {
    args: { token },
  });
  const lines = base64(token).match(/.{1,64}/g)!;
  expect(said.output).toContain('(secret token)');
  expect(lines.filter((line) => JSON.stringify(said).includes(line.slice(0, 20)))).toEqual([]);
});

describe('a secret that is cut', () => {
  it('by the length of what is kept of a stream, or of a message, shows no large part', async () => {
    const long = 'S3cret-0123456789-abcdefghijklmnop-QRSTUVWXYZ';
    // The last 8 KiB of stderr begin within it; the sample in the message ends within it.
    const after = 8 * 1024 - 30;
    const phases = [
      {
        id: 'a',
        type: 'script',
        run: `printf "%s" "$T" >&2; head -c ${after} /dev/zero | tr "\\0" x >&2; exit 1`,
        env: { T: '{args.token}' },
        optional: true,
      },
      {
        id: 'b',
        type: 'script',
        run: 'head -c 60 /dev/zero | tr "\\0" x; printf "%s" "$T"',
        env: { T: '{args.token}' },
        output: 'json',
        dependsOn: ['a'],
      },
    ];
    const result = await rig.run(flow(phases), { args: { token: long } });
    expect(result.error?.message).toContain('not JSON');
    const files = filesUnder(join(rig.root, '.pi/taskflows/runs')).map((path) => readFileSync(path, 'utf8'));
    for (const text of [JSON.stringify(result), ...files]) {
      expect(/S3cret-0123456789|PQRSTUVWXYZ|nop-QRSTUVWXYZ/.test(text)).toBe(false);
    }
  });

  it('over the pieces of a streamed answer is hidden in the events', async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      const answer = `It is ${SECRET}, or ${base64(`admin:${SECRET}`)}. pa5`;
      for (const piece of answer.match(/.{1,3}/gsu)!) {
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
      }
      response.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const runner = `{ type: openai, baseUrl: "http://127.0.0.1:${port}/v1", model: m }`;
    rig.write('.pi/taskflows/config.yaml', `runner: http\nrunners:\n  http: ${runner}\n`);
    const events: RunEvent[] = [];
    try {
      const onEvent = (event: RunEvent) => void events.push(event);
      await rig.run(flow([{ id: 'a', type: 'agent', task: 'say it' }]), { args: { token: SECRET }, onEvent });
    } finally {
      server.close();
    }
    const text = events.flatMap((event) => (event.type === 'phase-progress' ? [event.text ?? ''] : [])).join('');
    expect(text).toMatch(/^It is \(secret token\), or \w{0,10}\(secret token\)\w{0,2}={0,2}\. pa5$/);
    expect(
      events.filter((event) => event.type === 'phase-progress' && event.text !== undefined).length,
    ).toBeGreaterThan(3);
    expect(leaks()).toEqual([]);
  });
});

it('one of one or two characters would hide half of every text: it is not hidden, one of three is', async () => {
  const phases = [{ id: 'a', type: 'script', run: ['echo', 'ab abc {args.token}'] }];
  expect((await rig.run(flow(phases), { args: { token: 'ab' } })).output).toBe('ab abc ab');
  expect((await rig.run(flow(phases), { args: { token: 'abc' } })).output).toBe('ab (secret token) (secret token)');
});

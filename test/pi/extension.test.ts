import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import taskflow from '../../src/pi/extension.js';
import type { Context, Pi, ToolCall, ToolResult } from '../../src/pi/types.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { linesOf } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { until } from '../support/processes.js';

let project: TestProject;
let before: NodeJS.ProcessEnv;
beforeEach(() => {
  project = createTestProject();
  before = { ...process.env };
  process.env['HOME'] = `${project.root}/.home`;
});
afterEach(() => {
  process.env = before;
  project.remove();
});

const ran = (name: string) => linesOf(`${project.root}/ran.log`).filter((line) => line === name).length;
const script = (id: string, command: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `echo ${id} >> ran.log; ${command}`,
  ...more,
});
const save = (name: string, ...phases: object[]) =>
  project.write(`.pi/taskflows/${name}.json`, JSON.stringify({ name, description: `does ${name}`, phases }));

interface Shown {
  readonly title: string;
  readonly message: string;
}

/** The extension, loaded by something that has pi's API. */
function load({ answers }: { readonly answers?: boolean[] } = {}) {
  const commands = new Map<string, Parameters<Pi['registerCommand']>[1]>();
  const handlers = new Map<string, (event: unknown, ctx: Context) => unknown>();
  const messages: string[] = [];
  const dialogs: Shown[] = [];
  const widgets: (string[] | undefined)[] = [];
  let tool!: { execute(...call: ToolCall): Promise<ToolResult> };
  taskflow({
    registerTool: (given) => {
      tool = given as typeof tool;
    },
    registerCommand: (name, command) => commands.set(name, command),
    on: (event, handler) => handlers.set(event, handler),
    sendMessage: ({ content }) => messages.push(content),
  });
  const ctx: Context = {
    cwd: project.root,
    hasUI: answers !== undefined,
    ui: {
      confirm: async (title, message) => {
        dialogs.push({ title, message });
        return answers?.shift() ?? false;
      },
      setWidget: (_key, lines) => widgets.push(lines),
    },
  };
  const updates: string[] = [];
  const ask = async (asked: ToolCall[1], signal?: AbortSignal) => {
    const onUpdate = (partial: ToolResult) => updates.push(partial.content[0]!.text);
    return (await tool.execute('1', asked, signal, onUpdate, ctx)).content[0]!.text;
  };
  const type = async (line: string) => {
    const [, name, words] = /^\/(\S+) ?(.*)$/.exec(line)!;
    const count = messages.length;
    await commands.get(name!)!.handler(words!, ctx);
    await until(() => messages.length > count, 20_000);
    return messages.at(-1)!;
  };
  return { ask, type, updates, dialogs, widgets, commands, start: () => handlers.get('session_start')!({}, ctx) };
}

describe('the tool', () => {
  it('runs a flow with arguments, shows its phases on the way, and gives its output', async () => {
    project.write(
      'flow.json',
      JSON.stringify({
        name: 'greet',
        args: { who: { type: 'json' } },
        phases: [
          script('one', 'sleep 0.3'),
          { id: 'two', type: 'script', run: ['echo', 'hello {args.who.0}'], dependsOn: ['one'] },
        ],
      }),
    );
    const { ask, updates } = load();
    const said = await ask({ action: 'run', flow: './flow.json', args: { who: ['it"s me'] } });
    expect(said).toMatch(/^greet \d{8}-\d{6}-\w{6}: success\n✔ one\n✔ two\noutput:\nhello it"s me$/);
    expect(ran('one')).toBe(1);
    expect(updates.some((text) => text.includes('running\n▸ one\n· two'))).toBe(true);
  });

  it('says why a run failed, and what is wrong with a flow, as errors', async () => {
    save('bad', script('one', 'echo no >&2; exit 3'));
    project.write('broken.yaml', 'phases: [');
    const { ask } = load();
    await expect(ask({ action: 'run', flow: 'bad' })).rejects.toThrow(/bad .*: failed\n✖ one\nerror: /);
    await expect(ask({ action: 'run', flow: './broken.yaml' })).rejects.toThrow(/broken\.yaml:1:\d+ error/);
    await expect(ask({ action: 'run' })).rejects.toThrow('flow is missing');
    await expect(ask({ action: 'run', flow: '--version' })).rejects.toThrow('there is no saved flow "--version"');
    expect(await ask({ action: 'check', flow: './broken.yaml' })).toMatch(/broken\.yaml:1:\d+ error/);
  });

  it('lists, plans, explains and shows runs', async () => {
    const cache = { scope: 'cross-run', fingerprint: [], observe: { exclude: ['ran.log'] } };
    save('one', script('a', 'echo 1', { cache }));
    const { ask } = load();
    expect(await ask({ action: 'list' })).toContain('does one');
    expect(await ask({ action: 'plan', flow: 'one' })).toContain('a');
    expect(ran('a')).toBe(0);
    await ask({ action: 'run', flow: 'one' });
    expect(await ask({ action: 'run', flow: 'one' })).toContain('✔ (reused) a');
    expect(ran('a')).toBe(1);
    expect(await ask({ action: 'explain', flow: 'one', phase: 'a' })).toContain('a');
    expect(await ask({ action: 'status' })).toContain('one');
    expect(await ask({ action: 'status', run: 'last' })).toContain('a');
    expect(await ask({ action: 'cancel', run: 'last' })).toContain('is not under way');
  });

  it('cuts a long output and says where the whole is', async () => {
    save('long', script('a', 'head -c 60000 /dev/zero | tr "\\\\0" x'));
    const said = await load().ask({ action: 'run', flow: 'long' });
    expect(said.length).toBeLessThan(25_000);
    expect(said).toMatch(/… 40000 more characters; the whole: taskflow runs show \S+ --json$/);
  });

  it('ends the run when pi is told to stop', async () => {
    save('slow', script('a', 'sleep 60'), script('b', 'true', { dependsOn: ['a'] }));
    const abort = new AbortController();
    const asked = load().ask({ action: 'run', flow: 'slow' }, abort.signal);
    await until(() => ran('a') === 1, 20_000);
    abort.abort();
    await expect(asked).rejects.toThrow(/slow .*: interrupted/);
    expect(livingIn(project.root)).toEqual([]);
    expect(ran('b')).toBe(0);
  });
});

describe('an approval', () => {
  const question = 'Deploy \u001b[2Jnow?\nLine 2';
  beforeEach(() =>
    save(
      'ask',
      { id: 'sure', type: 'approval', task: question },
      script('go', 'echo went', { dependsOn: ['sure'], idempotent: false }),
    ),
  );

  it('is decided by a yes in the dialog, which shows exactly what is asked', async () => {
    const { ask, dialogs } = load({ answers: [true] });
    expect(await ask({ action: 'run', flow: 'ask' })).toMatch(/ask .*: success\n[\s\S]*output:\nwent$/);
    expect(dialogs).toEqual([{ title: 'Approve sure?', message: 'Deploy \\u001b[2Jnow?\nLine 2' }]);
    expect(ran('go')).toBe(1);
  });

  it('stays open after a no, and names the commands', async () => {
    const { ask, dialogs } = load({ answers: [false] });
    const said = await ask({ action: 'run', flow: 'ask' });
    expect(said).toMatch(/taskflow approve \S+ sure {3}or {3}taskflow reject \S+ sure\nthen: taskflow resume \S+$/);
    expect(dialogs).toHaveLength(1);
    const { stdout } = await project.run(['runs', '--state', 'paused', '--json']);
    expect(JSON.parse(stdout)).toHaveLength(1);
    expect(ran('go')).toBe(0);
  });

  it('is never decided where there is nobody to ask, whatever the model wants', async () => {
    const { ask, dialogs } = load();
    expect(await ask({ action: 'run', flow: 'ask' })).toContain('taskflow approve');
    expect(await ask({ action: 'approve' })).toContain('taskflow approve');
    await ask({ action: 'resume' });
    expect(dialogs).toEqual([]);
    expect(ran('go')).toBe(0);
  });

  it('that waits since earlier is put by approve, and resume goes on', async () => {
    const { ask, dialogs } = load({ answers: [false, true] });
    await ask({ action: 'run', flow: 'ask' });
    expect(await ask({ action: 'approve' })).toMatch(/^approved\. Go on: taskflow resume /);
    expect(dialogs[1]).toEqual(dialogs[0]);
    expect(await ask({ action: 'resume' })).toContain('went');
    expect(ran('go')).toBe(1);
    expect(await ask({ action: 'approve' })).toBe('no run waits for an approval');
  });
});

describe('commands', () => {
  it('/tf lists, runs, explains, cancels; /tf:<name> runs a saved flow', async () => {
    save('one', script('a', 'echo said'));
    project.write('flows/other.json', JSON.stringify({ name: 'other', phases: [script('o', 'true')] }));
    const { type, start, commands, widgets } = load({ answers: [] });
    await start();
    expect([...commands.keys()]).toEqual(['tf', 'tf:one']);
    expect(commands.get('tf:one')!.description).toBe('does one');
    expect(await type('/tf list')).toContain('does one');
    expect(await type('/tf run one')).toMatch(/^one .*: success\n✔ a\noutput:\nsaid$/);
    expect(await type('/tf:one')).toContain('success');
    expect(ran('a')).toBe(2);
    expect(widgets.at(-1)).toBeUndefined();
    expect(widgets.length).toBeGreaterThan(2);
    expect(await type('/tf runs')).toContain('one');
    expect(await type('/tf check one')).toContain('one');
    expect(await type('/tf explain one')).toContain('a');
    expect(await type('/tf approve')).toBe('no run waits for an approval');
    expect(await type('/tf nonsense')).toContain('/tf has list, run');
    expect(await type('/tf run')).toContain('flow is missing');
  });

  it('a run that a person started goes on in the background, and /tf cancel ends it', async () => {
    save('slow', script('a', 'sleep 60'));
    const { type, commands } = load({ answers: [] });
    const started = type('/tf run slow');
    await until(() => ran('a') === 1, 20_000);
    expect(commands.has('tf')).toBe(true);
    await type('/tf cancel');
    expect(await started).toBeDefined();
    await sleep(300);
    expect(livingIn(project.root)).toEqual([]);
  });
});

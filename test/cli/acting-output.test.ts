import { spawn, spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI, cliEnvironment, createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const hasScript = spawnSync('script', ['--version']).status === 0;

/** Titles, links and the clipboard; the cursor, colours and modes; C1 forms of both; the direction of writing. */
const ACTS =
  '\x1b]0;owned\x07\x1b]52;c;AAAA\x1b\\\x1b[2J\x1b[1;1H\x1b[31m\x1bc\x9b5A\x9d0;x\x9c\u202egnp.exe\u2069\b\rend';

const flow = (...phases: object[]) => JSON.stringify({ name: 'demo', phases });
const says = (id: string, text: string, more: object = {}) => ({
  id,
  type: 'script',
  run: ['printf', '%s', text],
  ...more,
});
/** Fails, and says why on stderr. */
const fails = (id: string, text: string, more: object = {}) => ({
  id,
  type: 'script',
  run: 'printf "%s" "$SAID" >&2; exit 1',
  env: { SAID: text },
  ...more,
});

/** On a real terminal. */
function onTerminal(...args: string[]): Promise<string> {
  const line = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: project.root,
    env: { ...cliEnvironment(project.root), TERM: 'xterm-256color' } as NodeJS.ProcessEnv,
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  return new Promise((resolve) => child.on('close', () => resolve(screen)));
}

/** What acts in a text, but for the styles and the drawing that are ours, and the line ends of a terminal. */
function acting(screen: string): string[] {
  const ours = /\x1b\[\d{1,2}m|\x1b\[\?2026[hl]|\x1b\[\d+A\r|\x1b\[[KJ]|\r\n/g;
  const found = screen.replaceAll(ours, '').match(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069].{0,10}/gs);
  return found ?? [];
}

describe.skipIf(!hasScript)('on a terminal nothing acts', () => {
  it.each([
    ['of a result', [], [says('a', ACTS)]],
    ['of what a program said on stderr', [], [fails('a', ACTS)]],
    ['of a result that a program would read', ['--json'], [says('a', ACTS)]],
    ['of events that a program would read', ['--events'], [says('a', ACTS)]],
    [
      'of a unit that has its name from a result',
      [],
      [{ id: 'm', type: 'map', over: [ACTS], run: ['false', '{item}'] }],
    ],
  ])('%s', async (_what, flags, phases) => {
    project.write('flow.json', flow(...phases));
    const screen = await onTerminal('run', './flow.json', '--fresh', ...flags);
    expect(screen).toContain('demo');
    expect(acting(screen)).toEqual([]);
  });

  it('of a flow that does not check, nor of what is looked at afterwards', async () => {
    project.write('bad.json', JSON.stringify({ name: ACTS, phases: [{ id: ACTS, type: ACTS, task: 'x', [ACTS]: 1 }] }));
    const checked = await onTerminal('check', './bad.json');
    expect(checked).toContain('bad.json');
    expect(acting(checked)).toEqual([]);
    project.write('flow.json', flow(says('a', ACTS), fails('b', ACTS, { dependsOn: ['a'] })));
    await project.run(['run', './flow.json']);
    for (const words of [['runs'], ['runs', 'show', 'last'], ['trace', 'last']]) {
      const screen = await onTerminal(...words);
      expect(screen).toContain('demo');
      expect(acting(screen), words.join(' ')).toEqual([]);
    }
  });
});

describe('where a program reads', () => {
  it('a result is what it is, byte for byte, and messages still do not act', async () => {
    project.write('flow.json', flow(fails('b', ACTS, { optional: true }), says('a', ACTS, { final: true })));
    const { status, stdout, stderr } = await project.run(['run', './flow.json']);
    expect([status, stdout]).toEqual([0, `${ACTS}\n`]);
    expect(stderr).toContain('end');
    expect(acting(stderr)).toEqual([]);
  });
});

describe('in a job of GitHub Actions', () => {
  const env = { CI: 'true', GITHUB_ACTIONS: 'true' };
  const COMMANDS = [
    '::set-env name=A::b',
    '  ::add-mask::a',
    '\u00a0::add-path::/tmp',
    'fine\r::error::made up',
    'see ##[set-env name=A]b',
    '##[add-mask]the',
    '\t::stop-commands::x',
    'std::vector is no command, nor is a::b ## [x]',
  ].join('\n');

  /** Lines that the runner takes for commands: it cuts at each line end, and trims. */
  const commands = (log: string) =>
    log.split(/\r\n|[\r\n]/).filter((line) => line.trim().startsWith('::') || line.includes('##['));
  const ours = /^::(?:error|warning|notice) (?:file|title)=/;

  /** The log as the runner reads it: what it would obey, and what stands where it obeys nothing. */
  function readLog(log: string): { obeyed: string[]; silenced: string[]; words: string[] } {
    const read = { obeyed: [] as string[], silenced: [] as string[], words: [] as string[] };
    let word: string | undefined;
    for (const line of log.split(/\r\n|[\r\n]/)) {
      const stop = /^\s*::stop-commands::(.*)$/.exec(line)?.[1];
      if (word !== undefined && line.trim() === `::${word}::`) word = undefined;
      else if (word !== undefined) read.silenced.push(line);
      else if (stop !== undefined) {
        word = stop;
        read.words.push(stop);
      } else if (commands(line).length > 0) read.obeyed.push(line);
    }
    if (word !== undefined) throw new Error('the log ends in silence');
    return read;
  }

  it('no result is a command of the workflow, and the rest of it stays as it is', async () => {
    project.write('flow.json', flow(says('a', COMMANDS)));
    const { stdout } = await project.run(['run', './flow.json'], { env });
    expect(commands(stdout)).toEqual([]);
    expect(stdout).toContain('set-env name=A::b');
    expect(stdout).toContain('std::vector is no command, nor is a::b ## [x]\n');
    for (const flag of ['--json', '--events']) {
      const read = await project.run(['run', './flow.json', '--fresh', flag], { env });
      expect(commands(read.stdout)).toEqual([]);
      const values = read.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(JSON.stringify(values)).toContain(JSON.stringify(COMMANDS).slice(1, -1));
    }
  });

  it('nothing that failed is one either, while our own annotations are', async () => {
    project.write('flow.json', flow(fails('a', COMMANDS), { id: 'b', type: 'approval', task: COMMANDS }));
    const { stderr } = await project.run(['run', './flow.json', '--keep-going'], { env });
    const { obeyed, silenced, words } = readLog(stderr);
    expect(obeyed.filter((line) => !ours.test(line))).toEqual([]);
    expect(obeyed).toHaveLength(2);
    expect(silenced.some((line) => line.includes('set-env name=A'))).toBe(true);
    expect(new Set(words).size).toBe(1);
    expect(words[0]).toMatch(/^[0-9a-f]{48}$/);
    project.write('bad.json', JSON.stringify({ name: 'x', phases: [{ id: 'a\n::error::b', task: 'x' }] }));
    const checked = await project.run(['check', './bad.json'], { env });
    expect(readLog(checked.stdout + checked.stderr).obeyed.filter((line) => !ours.test(line))).toEqual([]);
    const formatted = await project.run(['check', './bad.json', '--format', 'github'], { env });
    expect(commands(formatted.stdout).filter((line) => ours.test(line)).length).toBeGreaterThan(0);
  });

  it('a result stands between marks with a word that nobody can guess, which stdout does not hold', async () => {
    project.write('flow.json', flow(says('a', COMMANDS)));
    const words: string[] = [];
    for (const _ of [1, 2]) {
      const { stdout, stderr } = await project.run(['run', './flow.json', '--fresh'], { env });
      expect(stdout).not.toContain('::stop-commands::');
      words.push(...readLog(stderr).words);
    }
    expect(words).toHaveLength(2);
    expect(words[0]).not.toBe(words[1]);
    project.write('flow.json', flow(says('a', 'nothing to obey')));
    expect((await project.run(['run', './flow.json'], { env })).stderr).not.toContain('stop-commands');
  });

  it('elsewhere such lines are lines like others', async () => {
    project.write('flow.json', flow(says('a', COMMANDS)));
    expect((await project.run(['run', './flow.json'])).stdout).toBe(`${COMMANDS}\n`);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { CONFIG_DEFAULTS } from '../../src/model/config.js';
import { systemClock } from '../../src/util/clock.js';
import type { Project } from '../../src/util/project.js';
import { derivedDir } from '../../src/util/user-cache.js';

let root: string;
let project: Project;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'taskflow-config-'));
  project = { root: join(root, 'project'), home: join(root, 'home'), env: {}, clock: systemClock };
  mkdirSync(join(project.root, '.pi'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const projectFile = (text: string) => write(join(project.root, '.pi/taskflows/config.yaml'), text);
const userFile = (text: string) => write(join(project.home, '.pi/agent/taskflows/config.yaml'), text);

describe('settings files', () => {
  it('are not needed: the defaults hold', async () => {
    const { config, problems, values } = await loadConfig(project);
    expect(config).toEqual(CONFIG_DEFAULTS);
    expect(problems).toEqual([]);
    expect(values.every(({ source }) => source === 'default')).toBe(true);
    expect(existsSync(join(project.root, '.pi/taskflows'))).toBe(false);
  });

  it('lay the project over the user over the defaults, value by value, and say where each came from', async () => {
    userFile(
      'runner: claude\nmodel: big\ncache: {maxBytes: 500MB, maxAge: 30d}\nrunners: {pi: {provider: a, model: m}}\n',
    );
    projectFile('runner: pi\ncache:\n  maxAge: 24h\nrunners:\n  pi: {model: other}\n');
    const { config, problems, values } = await loadConfig(project);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      runner: 'pi',
      model: 'big',
      cache: { maxBytes: 500 * 1024 ** 2, maxAgeMs: 86_400_000, maxEntries: 200_000, dir: '.pi/taskflows/cache' },
      runners: { pi: { type: 'pi', provider: 'a', model: 'other' } },
    });
    const origin = Object.fromEntries(values.map(({ key, value, source }) => [key, [value, source]]));
    expect(origin['cache.maxAge']).toEqual(['24h', 'project']);
    expect(origin['cache.maxBytes']).toEqual(['500MB', 'user']);
    expect(origin['cache.dir']).toEqual(['.pi/taskflows/cache', 'default']);
  });

  it('do not mix two different runners of one name: nothing of the user leaks into the project one', async () => {
    userFile('runners: {mine: {command: [a], env: [MY_TOKEN], format: json}}\n');
    projectFile('runners: {mine: {command: [b]}}\n');
    expect((await loadConfig(project)).config.runners['mine']).toEqual({ type: 'command', command: ['b'] });
  });

  it('take one source of the signing key, that of the user first: everybody may know that of a project', async () => {
    projectFile('cache: {signingKey: {file: key.txt}}\n');
    expect((await loadConfig(project)).config.cache.signingKey).toEqual({ file: 'key.txt' });
    for (const key of ['{file: key.txt}', '{env: PATH}']) {
      userFile('cache: {signingKey: {env: KEY}}\n');
      projectFile(`cache: {signingKey: ${key}}\n`);
      expect((await loadConfig(project)).config.cache.signingKey).toEqual({ env: 'KEY' });
    }
  });

  it('keep the limits of the user: a project may lower them, not raise them', async () => {
    userFile('limits: {outputBytes: 10MB, items: 100, resetWait: 1h}\n');
    projectFile('limits: {outputBytes: 200MB, items: 50, resetWait: 2d}\n');
    const { config, values } = await loadConfig(project);
    expect(config.limits).toEqual({ outputBytes: 10 * 1024 ** 2, items: 50, resetWaitMs: 3_600_000 });
    expect(values.find(({ key }) => key === 'limits.outputBytes')).toMatchObject({ value: '10MB', source: 'user' });
  });

  it('take the short form of iteration', async () => {
    projectFile('iteration: off\n');
    expect((await loadConfig(project)).config.iteration).toEqual({ mode: 'off', ttlMs: 86_400_000 });
  });

  it('infer what a runner is from its name or its fields', async () => {
    projectFile(
      'runners:\n  codex: {args: [-s, workspace-write]}\n  local: {baseUrl: "http://127.0.0.1:1/v1"}\n' +
        '  mine: {command: [node, x.mjs], version: 3}\n',
    );
    const { runners } = (await loadConfig(project)).config;
    expect(Object.entries(runners).map(([name, { type }]) => [name, type])).toEqual([
      ['codex', 'codex'],
      ['local', 'openai'],
      ['mine', 'command'],
    ]);
    expect(runners['mine']?.version).toBe('3');
  });
});

describe('problems in a settings file', () => {
  it('are all reported, with place and advice, and the rest of the file still counts', async () => {
    projectFile(
      [
        'runer: pi',
        'model: good',
        'cache:',
        '  maxAgge: 3d',
        '  maxBytes: lots',
        'iteration: {ttl: soon}',
        'runners:',
        '  who: {model: x}',
        '  local: {type: openai}',
        '  pi: {baseUrl: "http://x.test/"}',
        '',
      ].join('\n'),
    );
    const { config, problems } = await loadConfig(project);
    expect(config.model).toBe('good');
    expect(
      problems.map((p) => `${p.line}:${p.column} ${p.severity} ${p.code} ${p.message}${p.hint ? ` (${p.hint})` : ''}`),
    ).toEqual([
      '1:1 error unknown-setting unknown setting runer (did you mean runner?)',
      '4:3 error unknown-setting unknown setting cache.maxAgge (did you mean maxAge?)',
      '5:13 error bad-value cache.maxBytes must be a size such as 500MB or 1GB, not "lots"',
      '6:18 error bad-value iteration.ttl must be a duration such as 90s, 24h or 30d, not "soon"',
      '8:16 error runner-type runner who does not say what it is ' +
        '(give it a command: [program, argument], or type: openai with a baseUrl)',
      '9:17 error missing-field runner local of type openai needs baseUrl',
      '10:17 warning unused-field baseUrl means nothing for a runner of type pi (it is for openai)',
    ]);
    expect(new Set(problems.map((p) => p.file))).toEqual(new Set(['.pi/taskflows/config.yaml']));
  });

  it('include a default runner that nobody defined', async () => {
    userFile('runner: cluade\n');
    const [problem] = (await loadConfig(project)).problems;
    expect(problem).toMatchObject({ code: 'unknown-runner', line: 1, column: 9, hint: 'did you mean claude?' });
  });

  it.each([
    ['broken YAML', 'runner: [\n', 'syntax'],
    ['a list', '- runner\n', 'not-a-map'],
    ['a value where settings belong', 'cache: 5\n', 'bad-value'],
    ['a key twice', 'runner: pi\nrunner: claude\n', 'duplicate-key'],
    ['prototype names', '__proto__: {x: 1}\n', 'unknown-setting'],
    ['prototype names as a runner', 'runners: {constructor: {command: [x]}}\n', 'bad-name'],
    ['a prototype key with a value', 'constructor: on\n', 'unknown-setting'],
    ['a huge file', `# ${'x'.repeat(1024 * 1024)}\n`, 'too-large'],
  ])('%s is one clear problem', async (_name, text, code) => {
    projectFile(text);
    const { problems, config } = await loadConfig(project);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(config.cache).toEqual(CONFIG_DEFAULTS.cache);
  });

  it('an empty file, or one with comments only, is none', async () => {
    for (const text of ['', '# nothing yet\n', 'cache:\n', 'runner: null\n']) {
      projectFile(text);
      expect((await loadConfig(project)).problems).toEqual([]);
    }
  });

  it('a folder in the place of the file is said, not thrown', async () => {
    mkdirSync(join(project.root, '.pi/taskflows/config.yaml'), { recursive: true });
    expect((await loadConfig(project)).problems[0]).toMatchObject({ code: 'unreadable' });
  });
});

describe('what a settings file said', () => {
  const checked = () => derivedDir(project);

  it('is kept privately by the digest of its text, and forgotten when the text changes', async () => {
    projectFile('model: one\n');
    const first = await loadConfig(project);
    const names = readdirSync(checked()).filter((name) => name.endsWith('.json'));
    expect(names).toHaveLength(1);
    expect(statSync(join(checked(), names[0]!)).mode & 0o777).toBe(0o600);
    expect(await loadConfig(project)).toEqual(first);
    projectFile('model: two\n');
    expect((await loadConfig(project)).config.model).toBe('two');
  });

  it('is worked out again when the kept copy is damaged', async () => {
    projectFile('model: one\n');
    await loadConfig(project);
    const [name] = readdirSync(checked()).filter((entry) => entry.endsWith('.json'));
    for (const garbage of ['', '{"values":', 'null', '[]', '{"values": 5, "problems": 5}']) {
      writeFileSync(join(checked(), name!), garbage);
      expect((await loadConfig(project)).config.model).toBe('one');
    }
  });
});

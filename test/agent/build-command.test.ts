import { describe, expect, test } from 'vitest';
import { buildClaudeCommand } from '../../src/agent/claude/build-command.js';
import type { ClientCommand } from '../../src/agent/client.js';
import { buildCodexCommand } from '../../src/agent/codex/build-command.js';
import { buildPiCommand } from '../../src/agent/pi/build-command.js';
import type { RunnerRequest } from '../../src/agent/runner.js';
import type { RunnerConfig } from '../../src/model/config.js';
import { projectIn, requestIn } from '../support/runner-request.js';

type Build = (request: RunnerRequest, config: RunnerConfig) => ClientCommand;
const project = projectIn('/project');
const argvOf = (build: Build, more: Partial<RunnerRequest> = {}, config: Partial<RunnerConfig> = {}) =>
  build(requestIn(project, more), { type: 'pi', ...config }).argv;
const after = (argv: readonly string[], flag: string) => argv[argv.indexOf(flag) + 1];

test('pi', () => {
  expect(argvOf(buildPiCommand)).toEqual(['pi', '--mode', 'json', '-p', '--no-session']);
  const request = { model: 'm', thinking: 'max', tools: ['Read', 'bash', 'Glob'], systemPrompt: 'README.md' };
  expect(argvOf(buildPiCommand, request, { provider: 'p', args: ['--no-skills'], model: 'default' })).toEqual([
    ...['pi', '--mode', 'json', '-p', '--no-session', '--provider', 'p', '--model', 'm', '--thinking', 'xhigh'],
    ...['--tools', 'read,bash,find', '--append-system-prompt', 'README.md\n', '--no-skills'],
  ]);
  expect(argvOf(buildPiCommand, { tools: [] })).toContain('--no-tools');
  expect(after(argvOf(buildPiCommand, {}, { model: 'default' }), '--model')).toBe('default');
});

test('claude', () => {
  expect(argvOf(buildClaudeCommand)).toEqual([
    ...['claude', '-p', '--output-format', 'stream-json', '--verbose', '--no-session-persistence'],
    ...['--include-partial-messages', '--permission-mode', 'acceptEdits'],
  ]);
  const argv = argvOf(buildClaudeCommand, { tools: ['read', 'bash'], thinking: 'minimal', systemPrompt: 'be brief' });
  expect(after(argv, '--tools')).toBe('Read,Bash');
  expect(after(argv, '--allowedTools')).toBe('Read,Bash');
  expect(after(argv, '--effort')).toBe('low');
  expect(after(argv, '--append-system-prompt')).toBe('be brief');
  expect(after(argvOf(buildClaudeCommand, { tools: [] }), '--tools')).toBe('');
  expect(argvOf(buildClaudeCommand, {}, { args: ['--permission-mode=plan'] })).not.toContain('acceptEdits');
});

test('claude: thinking off is a variable; it starts inside another one of its kind', () => {
  const { env, argv } = buildClaudeCommand(requestIn(project, { thinking: 'off' }), { type: 'claude' });
  expect(env).toEqual({ CLAUDECODE: undefined, CLAUDE_CODE_ENTRYPOINT: undefined, MAX_THINKING_TOKENS: '0' });
  expect(argv).not.toContain('--effort');
});

test('codex', () => {
  const argv = argvOf(buildCodexCommand, { model: 'm', thinking: 'off', systemPrompt: 'say "hi"\nä\u007f' });
  expect(argv.slice(0, 6)).toEqual(['codex', 'exec', '--json', '--skip-git-repo-check', '--ephemeral', '--color']);
  expect(after(argv, '--model')).toBe('m');
  expect(argv).toContain('model_reasoning_effort="none"');
  expect(argv).toContain('developer_instructions="say \\"hi\\"\\nä\\u007f"');
  expect(argv.at(-1)).toBe('-');
});

test('codex may change nothing when no tool that changes something is named', () => {
  const sandbox = (tools?: string[]) => after(argvOf(buildCodexCommand, tools ? { tools } : {}), '--sandbox');
  expect(sandbox()).toBe('workspace-write');
  expect(sandbox(['read', 'grep'])).toBe('read-only');
  expect(sandbox(['read', 'Bash'])).toBe('workspace-write');
  expect(argvOf(buildCodexCommand, {}, { args: ['-s', 'danger-full-access'] })).not.toContain('--sandbox');
});

describe.each<[string, Build]>([
  ['pi', buildPiCommand],
  ['claude', buildClaudeCommand],
  ['codex', buildCodexCommand],
])('%s', (_name, build) => {
  test('the task goes by stdin, however long and whatever it starts with', () => {
    for (const task of ['--help', '@/etc/passwd', '-', 'x'.repeat(1_000_000)]) {
      const command = build(requestIn(project, { task }), { type: 'pi' });
      expect(command.input).toBe(task);
      expect(command.argv.filter((element) => element === task && task !== '-')).toEqual([]);
    }
  });

  test('a system prompt that is too long for an argument goes with the task', () => {
    const systemPrompt = 'ä'.repeat(60_000);
    const command = build(requestIn(project, { systemPrompt, task: 'the task' }), { type: 'pi' });
    expect(command.input).toBe(`${systemPrompt}\n\nthe task`);
    expect(Math.max(...command.argv.map((element) => element.length))).toBeLessThan(1_000);
  });

  test('the program may be another one', () => {
    expect(argvOf(build, {}, { command: ['npx', 'other'] }).slice(0, 2)).toEqual(['npx', 'other']);
  });

  test('the same request and configuration give the same command', () => {
    expect(argvOf(build, { model: 'm' })).toEqual(argvOf(build, { model: 'm' }));
  });
});

import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
});
afterEach(() => project.remove());

const at = (path: string) => join(project.root, path);
const read = (path: string) => readFileSync(at(path), 'utf8');
const ENTRY = { command: 'npx', args: ['taskflow-cli', 'mcp'] };

it.each([
  ['claude', '.mcp.json', '.claude/skills/taskflow/SKILL.md'],
  ['cursor', '.cursor/mcp.json', '.agents/skills/taskflow/SKILL.md'],
  ['vscode', '.vscode/mcp.json', '.agents/skills/taskflow/SKILL.md'],
  ['codex', '.home/.codex/config.toml', '.agents/skills/taskflow/SKILL.md'],
])('%s: shown first, written with --yes, left alone when it is there', async (client, settings, skill) => {
  const shown = await project.run(['mcp', 'install', client]);
  expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('taskflow-cli') });
  expect(shown.stdout).toContain(settings.replace('.home/', ''));
  expect(shown.stderr).toBe('nothing was written: --yes writes it\n');
  expect([settings, skill].filter((path) => existsSync(at(path)))).toEqual([]);

  expect(await project.run(['mcp', 'install', client, '--yes'])).toMatchObject({ status: 0 });
  const before = [settings, skill].map(read);
  expect(before[0]).toContain('taskflow');
  expect(parse(before[1]!.split('---')[1]!)).toMatchObject({ name: 'taskflow', description: expect.any(String) });
  const again = await project.run(['mcp', 'install', client, '--yes']);
  expect(again.stdout.match(/left alone/g)).toHaveLength(2);
  expect([settings, skill].map(read)).toEqual(before);
});

it('other entries of a JSON file and its comments stay', async () => {
  project.write('.mcp.json', '// ours\n{\n  "mcpServers": {\n    "other": { "command": "x" } // mine\n  }\n}\n', 0o600);
  await project.run(['mcp', 'install', 'claude', '--yes']);
  const text = read('.mcp.json');
  expect(text).toMatch(/^\/\/ ours\n/);
  expect(text).toMatch(/"other": \{\s*"command": "x"\s*\}/);
  expect(text).toContain('// mine');
  expect(text).toContain('"taskflow"');
  expect(statSync(at('.mcp.json')).mode & 0o777).toBe(0o600);
});

it('an entry that is there is not changed, whatever it says', async () => {
  const mine = '{"mcpServers":{"taskflow":{"command":"mine"}}}';
  project.write('.mcp.json', mine);
  await project.run(['mcp', 'install', 'claude', '--yes']);
  expect(read('.mcp.json')).toBe(mine);
  const toml = 'model = "x"\n[mcp_servers."taskflow"]\ncommand = "mine"\n';
  project.write('.home/.codex/config.toml', toml);
  await project.run(['mcp', 'install', 'codex', '--yes']);
  expect(read('.home/.codex/config.toml')).toBe(toml);
});

it('settings of codex get a table at their end; a link to them stays a link', async () => {
  project.write('dotfiles/config.toml', '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"');
  mkdirSync(at('.home/.codex'), { recursive: true });
  symlinkSync(at('dotfiles/config.toml'), at('.home/.codex/config.toml'));
  await project.run(['mcp', 'install', 'codex', '--yes']);
  expect(lstatSync(at('.home/.codex/config.toml')).isSymbolicLink()).toBe(true);
  expect(read('dotfiles/config.toml')).toBe(
    [
      ...['# mine', 'model = "x"', '', '[mcp_servers.other]', 'command = "y"', ''],
      ...['[mcp_servers.taskflow]', 'command = "npx"', 'args = ["taskflow-cli","mcp"]', 'tool_timeout_sec = 660', ''],
    ].join('\n'),
  );
});

it.each([
  ['claude', '.mcp.json', '{ this is no JSON'],
  ['claude', '.mcp.json', '[]'],
  ['claude', '.mcp.json', '{"mcpServers": 3}'],
  ['codex', '.home/.codex/config.toml', 'mcp_servers = { other = { command = "x" } }\n'],
])('%s: settings that cannot be extended are left alone, and the person is told', async (client, path, text) => {
  project.write(path, text);
  const { status, stderr, stdout } = await project.run(['mcp', 'install', client, '--yes']);
  expect([status, stderr]).toEqual([2, expect.stringContaining('add the entry by hand')]);
  expect(stdout).toContain('taskflow-cli');
  expect(read(path)).toBe(text);
  expect(existsSync(at('.claude/skills'))).toBe(false);
});

it('names the command where it is installed, for pi the package, and says everything as JSON', async () => {
  project.write('bin/taskflow', '#!/bin/sh\n', 0o755);
  const env = { PATH: `${at('bin')}:${process.env['PATH']}` };
  const { stdout } = await project.run(['mcp', 'install', 'claude', '--json', '--yes'], { env });
  expect(JSON.parse(stdout)).toMatchObject([
    { path: '.mcp.json', action: 'created' },
    { path: '.claude/skills/taskflow/SKILL.md', action: 'created' },
  ]);
  expect(JSON.parse(read('.mcp.json'))).toEqual({ mcpServers: { taskflow: { command: 'taskflow', args: ['mcp'] } } });
  expect(await project.run(['mcp', 'install', 'pi'])).toMatchObject({
    status: 0,
    stdout: 'pi install npm:taskflow-cli\n',
  });
  const json = JSON.parse((await project.run(['mcp', 'install', 'vscode', '--json'])).stdout);
  expect(json[0]).toMatchObject({ path: '.vscode/mcp.json', action: 'create' });
  expect(JSON.parse(json[0].text).servers.taskflow).toEqual({ type: 'stdio', ...ENTRY });
});

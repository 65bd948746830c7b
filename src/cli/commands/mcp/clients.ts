import { join } from 'node:path';
import type { ParseError } from 'jsonc-parser';
import { findOnPath } from '../../../process/find-program.js';
import type { Project } from '../../../util/project.js';

export const MCP_CLIENTS = ['claude', 'codex', 'cursor', 'vscode', 'pi'] as const;
export type McpClientName = (typeof MCP_CLIENTS)[number];

/** A file of a client, and what has to be in it. */
export interface ClientFile {
  readonly path: string;
  /** Adds what is missing to the file's text; undefined if nothing is. */
  readonly add: (before: string) => Promise<{ readonly text: string } | { readonly problem: string } | undefined>;
}

interface Entry {
  readonly type?: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
}

/** The settings file of a client; pi has none for this. */
export function settingsOf(client: Exclude<McpClientName, 'pi'>, project: Project): ClientFile {
  const { root, home, env } = project;
  const entry = ourEntry(env);
  switch (client) {
    case 'claude':
      return jsonFile(join(root, '.mcp.json'), ['mcpServers', 'taskflow'], entry);
    case 'cursor':
      return jsonFile(join(root, '.cursor', 'mcp.json'), ['mcpServers', 'taskflow'], entry);
    case 'vscode':
      return jsonFile(join(root, '.vscode', 'mcp.json'), ['servers', 'taskflow'], { type: 'stdio', ...entry });
    case 'codex':
      return tomlFile(join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'), entry);
  }
}

/** Claude Code has a folder of its own for skills; the others share one. */
export function skillPath(client: Exclude<McpClientName, 'pi'>, { root }: Project): string {
  return join(root, client === 'claude' ? '.claude' : '.agents', 'skills', 'taskflow', 'SKILL.md');
}

/** Names no path of this machine, because colleagues share the file. */
function ourEntry(env: Project['env']): Entry {
  if (findOnPath('taskflow', env['PATH'])) return { command: 'taskflow', args: ['mcp'] };
  return { command: 'npx', args: ['taskflow-cli', 'mcp'] };
}

/** Keeps comments and the rest of the file. */
function jsonFile(path: string, key: readonly string[], entry: Entry): ClientFile {
  return {
    path,
    async add(before) {
      const jsonc = await import('jsonc-parser');
      const text = before.trim() === '' ? '{}\n' : before;
      const errors: ParseError[] = [];
      const tree = jsonc.parseTree(text, errors, { allowTrailingComma: true });
      const servers = tree && jsonc.findNodeAtLocation(tree, key.slice(0, 1));
      if (errors.length > 0 || tree?.type !== 'object' || (servers && servers.type !== 'object')) {
        return { problem: 'it is no JSON with such entries' };
      }
      if (jsonc.findNodeAtLocation(tree, [...key])) return undefined;
      const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
      return { text: jsonc.applyEdits(text, jsonc.modify(text, [...key], entry, { formattingOptions })) };
    },
  };
}

/** Appends: a table at the end of a TOML file is independent of what is before it. */
function tomlFile(path: string, { command, args }: Entry): ClientFile {
  // A tool may wait for a run for up to ten minutes.
  const lines = [
    '[mcp_servers.taskflow]',
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    'tool_timeout_sec = 660',
  ];
  return {
    path,
    async add(before) {
      if (/^\s*\[\s*mcp_servers\s*\.\s*["']?taskflow["']?\s*[\].]/m.test(before)) return undefined;
      if (/^\s*(?:mcp_servers\s*[.=]|\[\s*mcp_servers\s*\])/m.test(before)) {
        return { problem: 'it has mcp_servers in a form that is not changed here' };
      }
      const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
      return { text: `${before}${gap}${lines.join('\n')}\n` };
    },
  };
}

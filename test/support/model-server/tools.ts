import type { ToolWish } from './script.js';

/** A call in the terms of one client. `custom` tools take text instead of JSON. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly custom?: string;
  /** The group that the tool is offered in. */
  readonly namespace?: string;
}

export interface OfferedTool {
  readonly name: string;
  readonly type?: string;
  /** Of a `namespace`. */
  readonly tools?: readonly { readonly name: string }[];
}

/** Turns a wish (`write notes.txt hello`) into a call of a tool that the client offers. */
export function toolCall(wish: ToolWish, offered: readonly OfferedTool[]): ToolCall {
  const has = (name: string) => offered.some((tool) => tool.name === name);
  const space = wish.rest.search(/\s|$/);
  const path = wish.rest.slice(0, space);
  const content = wish.rest.slice(space + 1);
  switch (wish.name) {
    case 'write':
      if (has('write')) return { name: 'write', arguments: { path, content } };
      if (has('Write')) return { name: 'Write', arguments: { file_path: path, content } };
      if (has('apply_patch')) return patch(path, content, offered);
      return shell(`apply_patch <<'EOF'\n${patchOf(path, content)}EOF`, has);
    case 'read':
      if (has('read')) return { name: 'read', arguments: { path } };
      if (has('Read')) return { name: 'Read', arguments: { file_path: path } };
      return shell(`cat ${path}`, has);
    case 'bash':
      return shell(wish.rest, has);
    default:
      return { ...named(wish.name, offered), arguments: JSON.parse(wish.rest || '{}') as Record<string, unknown> };
  }
}

/** Codex offers the tools of a server in a group: `mcp__server__tool` is `tool` in `mcp__server`. */
function named(name: string, offered: readonly OfferedTool[]): Pick<ToolCall, 'name' | 'namespace'> {
  for (const { name: namespace, tools = [] } of offered) {
    const tool = tools.find((one) => `${namespace}__${one.name}` === name);
    if (tool) return { name: tool.name, namespace };
  }
  return { name };
}

function shell(command: string, has: (name: string) => boolean): ToolCall {
  if (has('bash')) return { name: 'bash', arguments: { command } };
  if (has('Bash')) return { name: 'Bash', arguments: { command } };
  if (has('exec_command')) return { name: 'exec_command', arguments: { cmd: command } };
  if (has('shell_command')) return { name: 'shell_command', arguments: { command } };
  if (has('shell')) return { name: 'shell', arguments: { command: ['sh', '-c', command] } };
  return { name: 'bash', arguments: { command } };
}

function patchOf(path: string, content: string): string {
  const body = content.split('\n').map((line) => `+${line}`);
  return ['*** Begin Patch', `*** Add File: ${path}`, ...body, '*** End Patch', ''].join('\n');
}

function patch(path: string, content: string, offered: readonly OfferedTool[]): ToolCall {
  const input = patchOf(path, content);
  const custom = offered.find((tool) => tool.name === 'apply_patch')?.type === 'custom';
  return { name: 'apply_patch', arguments: { input }, ...(custom && { custom: input }) };
}

import { join } from 'node:path';
import type { AgentScope } from '../model/flow.js';
import { isForbiddenName } from '../model/names.js';
import { readIfThere } from '../util/if-there.js';
import { markdownNames } from '../util/markdown-names.js';
import type { Project } from '../util/project.js';
import { BUILTIN_AGENTS } from './builtin-agents.js';
import { type FrontMatterValue, parseFrontMatter, splitList } from './front-matter.js';

/** Who answers a task: a file's head and text, or one of the built-in agents. */
export interface AgentFile {
  readonly name: string;
  readonly description: string;
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly thinking?: string;
  readonly systemPrompt: string;
  /** Absolute; undefined for a built-in agent. */
  readonly path?: string;
}

type FoundAgent =
  | { readonly agent: AgentFile }
  /** `known`: names that would have been found, for the nearest match. */
  | { readonly problem: string; readonly known: readonly string[] };

/** Reads a file's bytes; undefined when it is not there. A checker records what was asked for. */
type ReadFile = (path: string) => Buffer | undefined;
type ListFolder = (path: string) => readonly string[];

interface Folders {
  readonly read: ReadFile;
  readonly list: ListFolder;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const LARGEST_AGENT_FILE = 1024 * 1024;

/** The agent of that name: the project's file, then the user's, then a built-in one. Never throws. */
export function findAgent(
  project: Pick<Project, 'root' | 'home'>,
  name: string,
  { scope, read = readIfThere, list = markdownNames }: { readonly scope: AgentScope } & Partial<Folders>,
): FoundAgent {
  const folders = agentFolders(project, scope);
  if (NAME.test(name) && !isForbiddenName(name)) {
    for (const folder of folders) {
      const found = findInFolder(folder, name, { read, list });
      if (found) return found;
    }
    // Older flows write executor_code for executor-code.
    const builtin = BUILTIN_AGENTS.get(name.replaceAll('_', '-'));
    if (builtin) return { agent: { name, ...builtin } };
  }
  const known = new Set(BUILTIN_AGENTS.keys());
  for (const folder of folders) for (const file of list(folder)) known.add(file.replace(/\.md$/, ''));
  return { problem: `there is no agent "${name.slice(0, 100)}"`, known: [...known] };
}

/** Where agent files are, in the order of the look-up. */
export function agentFolders(project: Pick<Project, 'root' | 'home'>, scope: AgentScope): readonly string[] {
  const own = join(project.root, '.pi', 'agents');
  const user = join(project.home, '.pi', 'agent', 'agents');
  return scope === 'project' ? [own] : scope === 'user' ? [user] : [own, user];
}

/** By the file's name first; then by the name that a file gives itself. */
function findInFolder(folder: string, name: string, { read, list }: Folders): FoundAgent | undefined {
  const expected = `${name}.md`;
  const direct = readAgent(join(folder, expected), name, read);
  if (direct) return direct;
  for (const file of list(folder)) {
    if (file === expected) continue;
    const found = readAgent(join(folder, file), undefined, read);
    if (found && 'agent' in found && found.agent.name === name) return found;
  }
  return undefined;
}

function readAgent(path: string, name: string | undefined, read: ReadFile): FoundAgent | undefined {
  const bytes = read(path);
  if (bytes === undefined) return undefined;
  const parsed =
    bytes.length > LARGEST_AGENT_FILE ? { problem: 'it has more than 1 MiB' } : parseFrontMatter(textOf(bytes));
  if ('problem' in parsed) return { problem: `the agent file ${path} cannot be used: ${parsed.problem}`, known: [] };
  const { fields, body } = parsed;
  const fileName = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
  const tools = fields.get('tools');
  const model = textField(fields.get('model'));
  const thinking = textField(fields.get('thinking'));
  return {
    agent: {
      name: name ?? textField(fields.get('name')) ?? fileName,
      description: textField(fields.get('description')) ?? '',
      ...(tools === undefined ? {} : { tools: typeof tools === 'string' ? splitList(tools) : tools }),
      ...(model === undefined ? {} : { model }),
      ...(thinking === undefined ? {} : { thinking }),
      systemPrompt: body.trim(),
      path,
    },
  };
}

function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

function textField(value: FrontMatterValue | undefined): string | undefined {
  const text = typeof value === 'string' ? value.trim() : value?.join(', ');
  return text === '' ? undefined : text;
}

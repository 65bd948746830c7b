import { agentFolders, findAgent } from '../agent/agent-files.js';
import { BUILTIN_AGENTS } from '../agent/builtin-agents.js';
import { savedFlowNames } from '../check/find-flow.js';
import { markdownNames } from '../util/markdown-names.js';
import type { Project } from '../util/project.js';

/** What a planner may use, a line each. Not part of the identity: a longer list makes no earlier plan worse. */
export function catalogueOf(project: Project): { readonly agents: string[]; readonly flows: readonly string[] } {
  const files = agentFolders(project, 'both')
    .flatMap(markdownNames)
    .map((file) => file.replace(/\.md$/, ''));
  const names = [...new Set([...files, ...BUILTIN_AGENTS.keys()])].sort();
  const agents = names.flatMap((name) => {
    const found = findAgent(project, name, { scope: 'both' });
    return 'agent' in found ? [`${name}: ${found.agent.description.replaceAll(/\s+/g, ' ').slice(0, 200)}`] : [];
  });
  return { agents, flows: savedFlowNames(project) };
}

// The generated graph as taskflow flow files.

/** @typedef {import('./workspace.mjs').Workspace} Workspace */

/** @param {Workspace} workspace */
export function jsonFlow(workspace) {
  return `${JSON.stringify(flow(workspace), null, 1)}\n`;
}

/** The same flow as people write it in YAML: blocks outside, short lists inside. @param {Workspace} workspace */
export function yamlFlow(workspace) {
  const { name, concurrency, phases } = flow(workspace);
  const lines = [`name: ${name}`, `concurrency: ${concurrency}`, 'phases:'];
  for (const { id, type, run, dependsOn, cache } of phases) {
    lines.push(`  - id: ${id}`, `    type: ${type}`, `    run: [${run.join(', ')}]`);
    if (dependsOn) lines.push(`    dependsOn: [${dependsOn.join(', ')}]`);
    lines.push('    cache:', `      scope: ${cache.scope}`, `      observe: ${cache.observe}`);
    lines.push('      fingerprint:', `        - ${cache.fingerprint[0]}`);
  }
  return `${lines.join('\n')}\n`;
}

function flow({ graph, command }) {
  return {
    name: `${graph.shape}-${graph.size}`,
    concurrency: 8,
    phases: graph.phases.map(({ id, needs }) => ({
      id,
      type: 'script',
      run: command(id),
      ...(needs.length > 0 && { dependsOn: needs }),
      // The others believe what is declared, too; the checks write beside it to count executions.
      cache: { scope: 'cross-run', observe: 'off', fingerprint: [`file:in/${id}.txt`] },
    })),
  };
}

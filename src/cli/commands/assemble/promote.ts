import { join } from 'node:path';
import { findRecord } from '../../../assemble/attempts.js';
import { savedFlowNames } from '../../../check/find-flow.js';
import { STATE_DIR } from '../../../util/project.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { isFreeName, WRITABLE_HINT, writeNewFile } from '../../load/new-file.js';
import { flowYaml } from './record-text.js';

export const command: Command = {
  usage: 'ID [--as NAME] [--json]',
  description: `Saves the flow of an attempt as a flow of the project, ${STATE_DIR}/NAME.yaml: to be read, changed and
committed like any other. From then on it is held to the rules of written flows.`,
  examples: [{ command: 'taskflow assemble promote last --as risk', does: 'then: taskflow run risk base=main' }],
  flags: [
    { name: 'as', type: 'string', value: 'NAME', help: "name of the flow (made from the task's words without it)" },
    jsonFlag('as JSON: {path, name, id}'),
  ],
  positionals: [{ name: 'ID', help: 'id of an attempt, a unique part of it, or last', required: true }],
  async run(invocation) {
    const { project, flags, out, err, positionals } = invocation;
    const found = findRecord(project, positionals[0]!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const { id, flow, status, error, task } = found.record;
    if (status !== 'complete' || !flow) {
      return complain(invocation, `${id} is not complete: ${oneLine(error ?? 'it has no flow')}`);
    }
    const name = flags.string('as') ?? String(flow['name']);
    if (!isFreeName(name)) {
      return complain(invocation, `${JSON.stringify(name)} is no name for a flow`, 'letters, digits, dots, - and _');
    }
    const path = `${STATE_DIR}/${name}.yaml`;
    const isTaken = savedFlowNames(project).includes(name);
    const text = `# Made by taskflow assemble (${id}): ${oneLine(task)}\n${await flowYaml({ ...flow, name })}`;
    const written = isTaken ? 'there' : writeNewFile(join(project.root, path), text);
    if (written === 'there')
      return complain(invocation, `there is a flow ${name} already`, 'give it another name with --as');
    if (typeof written === 'object') {
      return complain(invocation, `${path} cannot be written: ${written.failed}`, WRITABLE_HINT);
    }
    out.write(flags.boolean('json') ? `${JSON.stringify({ path, name, id })}\n` : `${path}\n`);
    err.write(`run it: taskflow run ${name}\n`);
    return EXIT.success;
  },
};

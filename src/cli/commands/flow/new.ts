import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { STATE_DIR } from '../../../util/project.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { isFreeName, WRITABLE_HINT, writeNewFile } from '../../load/new-file.js';
import { renderTemplateTest } from '../../templates/template-tests.js';
import { flowFromTemplate, TEMPLATES } from '../../templates/templates.js';
import { alignColumns } from '../../text/table.js';

export const command: Command = {
  usage: 'NAME [--template T]',
  examples: [
    { command: 'taskflow new audit', does: `writes ${STATE_DIR}/audit.yaml, and a test beside it` },
    { command: 'taskflow new review --template map', does: 'one agent call per file' },
    { command: 'taskflow new --list', does: 'all templates' },
  ],
  flags: [
    {
      name: 'template',
      alias: 't',
      type: 'string',
      value: 'T',
      choices: TEMPLATES.map(({ name }) => name),
      help: `${TEMPLATES.map(({ name }) => name).join(', ')} (script without it)`,
    },
    { name: 'list', type: 'boolean', help: 'say what each template is for' },
    jsonFlag('the paths of the new files, or the list, as JSON'),
  ],
  positionals: [{ name: 'NAME', help: 'name of the new flow', required: false }],
  async run(invocation) {
    if (invocation.flags.boolean('list')) return list(invocation);
    const [name] = invocation.positionals;
    if (name === undefined) return complain(invocation, 'NAME is missing', 'such as: taskflow new audit');
    if (!isFreeName(name)) {
      return complain(invocation, `${JSON.stringify(name)} is no name for a flow`, 'letters, digits, dots, - and _');
    }
    return create(invocation, name);
  },
};

function list({ flags, out }: Invocation): number {
  if (flags.boolean('json')) out.json(TEMPLATES.map(({ name, summary }) => ({ name, summary })));
  else out.write(alignColumns(TEMPLATES.map(({ name, summary }) => [name, summary])));
  return EXIT.success;
}

function create(invocation: Invocation, name: string): number {
  const { project, out, err, flags } = invocation;
  const folder = join(project.root, STATE_DIR);
  const taken = ['yaml', 'yml', 'json']
    .map((ending) => `${name}.${ending}`)
    .find((file) => existsSync(join(folder, file)));
  if (taken) return complain(invocation, `${STATE_DIR}/${taken} is there already`, 'choose another name');
  const wanted = flags.string('template') ?? 'script';
  const template = TEMPLATES.find((candidate) => candidate.name === wanted)!;
  const path = `${STATE_DIR}/${name}.yaml`;
  const written = writeNewFile(join(project.root, path), flowFromTemplate(template, name));
  if (written === 'there') return complain(invocation, `${path} is there already`, 'choose another name');
  if (typeof written === 'object') {
    return complain(invocation, `${path} cannot be written: ${written.failed}`, WRITABLE_HINT);
  }
  const test = `${STATE_DIR}/${name}.test.yaml`;
  const tested = writeNewFile(join(project.root, test), renderTemplateTest(template.name, name));
  if (typeof tested === 'object') {
    return complain(invocation, `${test} cannot be written: ${tested.failed}`, WRITABLE_HINT);
  }
  out.write(
    flags.boolean('json') ? `${JSON.stringify({ path, test, template: template.name })}\n` : `${path}\n${test}\n`,
  );
  err.write(`try it: ${template.tryIt.replaceAll('{NAME}', name)}\ntest it: taskflow test ${test}\n`);
  return EXIT.success;
}

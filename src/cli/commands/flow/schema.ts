import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { configSchemaText, flowSchemaText, testSchemaText } from '../../text/schema-text.js';

export const command: Command = {
  usage: '[--config | --test]',
  description: `Prints the JSON Schema of flow files, of settings files, or of test files. Editors use it for completion
and hover texts: name it in a JSON flow with "$schema": "./flow.schema.json", and in YAML with a first line
# yaml-language-server: $schema=flow.schema.json`,
  examples: [
    { command: 'taskflow schema > flow.schema.json', does: 'a file that flows can name' },
    { command: 'taskflow schema --config > config.schema.json', does: 'the same for config.yaml' },
  ],
  flags: [
    { name: 'config', type: 'boolean', help: 'of config.yaml, not of flows' },
    { name: 'test', type: 'boolean', help: 'of test files (NAME.test.yaml), not of flows' },
    jsonFlag('changes nothing: it is JSON anyway'),
  ],
  positionals: [],
  async run({ out, flags }) {
    const text = flags.boolean('config') ? configSchemaText : flags.boolean('test') ? testSchemaText : flowSchemaText;
    out.write(await text());
    return EXIT.success;
  },
};

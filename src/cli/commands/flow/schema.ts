import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { configSchemaText, flowSchemaText } from '../../text/schema-text.js';

export const command: Command = {
  usage: '[--config]',
  description: `Prints the JSON Schema of flow files, or of settings files. Editors use it for completion and hover
texts: name it in a JSON flow with "$schema": "./flow.schema.json", and in YAML with a first line
# yaml-language-server: $schema=flow.schema.json`,
  examples: [
    { command: 'taskflow schema > flow.schema.json', does: 'a file that flows can name' },
    { command: 'taskflow schema --config > config.schema.json', does: 'the same for config.yaml' },
  ],
  flags: [
    { name: 'config', type: 'boolean', help: 'of config.yaml, not of flows' },
    { name: 'json', type: 'boolean', help: 'changes nothing: it is JSON anyway' },
  ],
  positionals: [],
  async run({ out, flags }) {
    out.write(await (flags.boolean('config') ? configSchemaText() : flowSchemaText()));
    return EXIT.success;
  },
};

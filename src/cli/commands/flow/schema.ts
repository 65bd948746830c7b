import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { flowSchemaText } from '../../text/schema-text.js';

export const command: Command = {
  usage: '[--json]',
  description: `Prints the JSON Schema of flow files. Editors use it for completion and hover texts: name it in a JSON flow with
"$schema": "./flow.schema.json", and in a YAML flow with a first line # yaml-language-server: $schema=flow.schema.json`,
  examples: [{ command: 'taskflow schema > flow.schema.json', does: 'a file that flows can name' }],
  flags: [{ name: 'json', type: 'boolean', help: 'changes nothing: it is JSON anyway' }],
  positionals: [],
  async run({ out }) {
    out.write(await flowSchemaText());
    return EXIT.success;
  },
};

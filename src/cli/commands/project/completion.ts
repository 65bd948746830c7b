import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { COMPLETION_SCRIPTS, type Shell } from '../../templates/completion.js';

const SHELLS = Object.keys(COMPLETION_SCRIPTS) as Shell[];

export const command: Command = {
  usage: 'bash|zsh|fish',
  description: `Prints a script that lets the shell complete commands, flags, flows, phases, arguments and runs. It
asks taskflow each time, so it knows what is there now and needs no renewal.`,
  examples: [
    { command: 'echo \'eval "$(taskflow completion bash)"\' >> ~/.bashrc', does: 'bash, from the next shell on' },
    { command: 'echo \'eval "$(taskflow completion zsh)"\' >> ~/.zshrc', does: 'zsh; after compinit' },
    { command: 'taskflow completion fish > ~/.config/fish/completions/taskflow.fish', does: 'fish' },
  ],
  flags: [jsonFlag('as JSON: {shell, script}')],
  positionals: [{ name: 'SHELL', help: 'bash, zsh or fish', required: true, choices: SHELLS }],
  withoutProject: () => true,
  async run({ positionals, flags, out }) {
    const shell = positionals[0] as Shell;
    const script = COMPLETION_SCRIPTS[shell];
    out.write(flags.boolean('json') ? `${JSON.stringify({ shell, script })}\n` : script);
    return EXIT.success;
  },
};

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { STATE_DIR } from '../../util/project.js';
import type { Command, Invocation } from '../command.js';
import { EXIT } from '../exit-status.js';
import { complain } from '../problem.js';
import { createStyle } from '../style.js';
import { OVERVIEW_FLOW } from '../templates/overview.js';

export const command: Command = {
  usage: '[--json]',
  description: `Writes settings, a first flow and the schema that editors use for completion into ${STATE_DIR}, and tells git
to ignore what taskflow makes. What is there already is left alone, so it can be called again at any time.`,
  examples: [{ command: 'taskflow init && taskflow run overview', does: 'from nothing to a first run' }],
  flags: [{ name: 'json', type: 'boolean', help: 'as JSON: [{path, action}]' }],
  positionals: [],
  async run(invocation) {
    const { flowSchemaText } = await import('../schema-text.js');
    const files = [
      { path: `${STATE_DIR}/config.yaml`, text: CONFIG },
      { path: `${STATE_DIR}/overview.yaml`, text: OVERVIEW_FLOW },
      { path: `${STATE_DIR}/schema/flow.json`, text: await flowSchemaText() },
    ];
    const done: Step[] = [];
    try {
      for (const { path, text } of files)
        done.push({ path, action: writeNew(join(invocation.project.root, path), text) });
      done.push(ignoreLines(invocation.project.root));
    } catch (error) {
      return complain(invocation, `cannot write: ${(error as Error).message}`);
    }
    report(invocation, done);
    return EXIT.success;
  },
};

interface Step {
  readonly path: string;
  readonly action: 'created' | 'extended' | 'left alone';
}

const CONFIG = `# Settings of taskflow in this project. They lie over your own in ~/.pi/agent/taskflows/config.yaml.
# taskflow config list --all shows every setting; taskflow config set KEY VALUE changes one and keeps these comments.

# runner: pi              # pi, claude, codex, or one of your own; without it, the first that is installed
# model: MODEL            # default model of all flows
# concurrency: 8

# runners:
#   local: { type: openai, baseUrl: "http://127.0.0.1:11434/v1", model: qwen3 }
#   mine: { command: [node, agent.mjs], format: text, version: "1" }

# cache: { maxBytes: 1GB, maxAge: 90d }
# iteration: on           # an unfinished run of the same file is continued by itself
`;

const IGNORED = [`${STATE_DIR}/cache/`, `${STATE_DIR}/runs/`];

/** Never over a file that is there, not even one that appears at this very moment. */
function writeNew(path: string, text: string): Step['action'] {
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return 'created';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return 'left alone';
    throw error;
  }
}

function ignoreLines(root: string): Step {
  const path = join(root, '.gitignore');
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const there = new Set((before ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\//, '').replace(/\/$/, '')));
  const missing = IGNORED.filter((line) => !there.has(line.slice(0, -1)));
  if (missing.length === 0) return { path: '.gitignore', action: 'left alone' };
  const gap = before === undefined || before === '' || before.endsWith('\n') ? '' : '\n';
  writeFileSync(path, `${before ?? ''}${gap}${missing.join('\n')}\n`);
  return { path: '.gitignore', action: before === undefined ? 'created' : 'extended' };
}

function report({ out, err, flags }: Invocation, steps: readonly Step[]): void {
  if (flags.boolean('json')) {
    out.write(`${JSON.stringify(steps, null, 2)}\n`);
    return;
  }
  const style = createStyle(out.color);
  for (const { path, action } of steps) {
    out.write(
      action === 'left alone'
        ? style.dim(`  ${path} (left alone)\n`)
        : `${style.green('+')} ${path}${action === 'extended' ? ' (extended)' : ''}\n`,
    );
  }
  err.write('next: taskflow run overview\n');
}

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileTidily } from '../../../util/atomic-write.js';
import { STATE_DIR } from '../../../util/project.js';
import { whyUnwritableAt } from '../../../util/why-unwritable.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { WRITABLE_HINT, writeNewFile } from '../../load/new-file.js';
import { OVERVIEW_FLOW } from '../../templates/overview.js';
import { createStyle } from '../../terminal/style.js';

export const command: Command = {
  usage: '[--json]',
  description: `Writes settings, a first flow and the schema that editors use for completion into ${STATE_DIR}, and
tells git to ignore what taskflow makes. What you wrote is left alone and the schemas of another version are renewed,
so it can be called again at any time.`,
  examples: [{ command: 'taskflow init && taskflow run overview', does: 'from nothing to a first run' }],
  flags: [jsonFlag('as JSON: [{path, action}]')],
  positionals: [],
  async run(invocation) {
    const { configSchemaText, flowSchemaText, testSchemaText } = await import('../../text/schema-text.js');
    const files = [
      { path: `${STATE_DIR}/config.yaml`, text: CONFIG },
      { path: `${STATE_DIR}/overview.yaml`, text: OVERVIEW_FLOW },
      { path: `${STATE_DIR}/schema/flow.json`, text: await flowSchemaText(), ours: true },
      { path: `${STATE_DIR}/schema/config.json`, text: await configSchemaText(), ours: true },
      { path: `${STATE_DIR}/schema/test.json`, text: await testSchemaText(), ours: true },
    ];
    const { root } = invocation.project;
    const done: Step[] = [];
    for (const { path, text, ours = false } of files) {
      const written = writeNewFile(join(root, path), text);
      const renewed = written === 'there' && ours ? renew(join(root, path), text) : written;
      if (typeof renewed === 'object') return unwritable(invocation, path, renewed.failed);
      done.push({ path, action: renewed === 'there' ? 'left alone' : renewed });
    }
    const ignored = ignoreLines(root);
    if ('failed' in ignored) return unwritable(invocation, '.gitignore', ignored.failed);
    done.push(ignored);
    report(invocation, done);
    return EXIT.success;
  },
};

interface Step {
  readonly path: string;
  readonly action: 'created' | 'extended' | 'renewed' | 'left alone';
}

const CONFIG = `# yaml-language-server: $schema=./schema/config.json
#
# Settings of taskflow in this project. They lie over your own in ~/.pi/agent/taskflows/config.yaml.
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

function unwritable(invocation: Invocation, path: string, why: string): number {
  return complain(invocation, `${path} cannot be written: ${why}`, WRITABLE_HINT);
}

/** Renews a schema of another version, with which an editor would report correct flows. */
function renew(path: string, text: string): 'renewed' | 'there' | { readonly failed: string } {
  if (readFileSync(path, 'utf8') === text) return 'there';
  const written = writeFileTidily(path, text, 0o644);
  return 'failed' in written ? { failed: whyUnwritableAt(path, written.failed) } : 'renewed';
}

function ignoreLines(root: string): Step | { readonly failed: string } {
  const path = join(root, '.gitignore');
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const there = new Set((before ?? '').split(/\r?\n/).map((line) => line.trim().replace(/^\//, '').replace(/\/$/, '')));
  const missing = IGNORED.filter((line) => !there.has(line.slice(0, -1)));
  if (missing.length === 0) return { path: '.gitignore', action: 'left alone' };
  const gap = before === undefined || before === '' || before.endsWith('\n') ? '' : '\n';
  try {
    // Appends: a full disk cannot destroy lines that a person wrote.
    appendFileSync(path, `${gap}${missing.join('\n')}\n`);
  } catch (error) {
    return { failed: whyUnwritableAt(path, error) };
  }
  return { path: '.gitignore', action: before === undefined ? 'created' : 'extended' };
}

function report({ out, err, flags }: Invocation, steps: readonly Step[]): void {
  if (flags.boolean('json')) {
    out.json(steps);
    return;
  }
  const style = createStyle(out.color);
  for (const { path, action } of steps) {
    out.write(
      action === 'left alone'
        ? style.dim(`  ${path} (left alone)\n`)
        : `${style.green('+')} ${path}${action === 'created' ? '' : ` (${action})`}\n`,
    );
  }
  err.write('next: taskflow run overview\n');
}

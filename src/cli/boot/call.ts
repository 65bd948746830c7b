import type { Called } from '../../mcp/host.js';
import type { Project } from '../../util/project.js';
import { EXIT } from '../errors/exit-status.js';
import { parseArguments } from '../flags/flags.js';
import { GLOBAL_FLAGS } from '../flags/global-flags.js';
import { captureWriter } from '../terminal/capture.js';
import { findCommand } from './registry.js';

/** Runs one of our commands in this process, as if typed in `cwd`, and returns what it printed. */
export async function callCommand(
  args: readonly string[],
  where: { readonly project: Project; readonly cwd: string },
): Promise<Called> {
  const two = findCommand(args.slice(0, 2).join(' '));
  const entry = two ?? findCommand(args[0]!);
  if (!entry) throw new Error(`there is no command ${args[0]}`);
  const { command } = await entry.load();
  const parsed = parseArguments(args.slice(two ? 2 : 1), [...command.flags, ...GLOBAL_FLAGS]);
  if ('problem' in parsed) return { status: EXIT.usage, stdout: '', stderr: parsed.problem.message };
  const [out, err] = [captureWriter(), captureWriter()];
  const stdin = { isTerminal: false, readAll: () => Buffer.alloc(0) };
  const invocation = { command: entry.name, ...parsed, ...where, out, err, stdin };
  const status = await command.run(invocation, (others) => callCommand(others, where));
  return {
    status,
    json: out.value(),
    get stdout() {
      return out.text();
    },
    stderr: err.text(),
  };
}

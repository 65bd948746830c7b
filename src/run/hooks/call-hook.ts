import { resolve } from 'node:path';
import { writeOwnFile } from '../../memo/files/written-files.js';
import type { Hook } from '../../model/hooks.js';
import { runProcess } from '../../process/run-process.js';
import { isInside, realPath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { whyUnwritable } from '../../util/why-unwritable.js';
import type { HookCall } from './hook-call.js';
import { postHook } from './post-hook.js';

type Answer = { readonly failed: string } | undefined;

/** Never throws, and is over within the hook's time limit. */
export async function callHook(hook: Hook, call: HookCall, project: Project): Promise<Answer> {
  if ('argv' in hook) return startProgram(hook, call, project);
  return 'file' in hook ? writeResult(hook.file, call, project) : postHook(hook, call, project);
}

async function startProgram(
  { argv, timeoutMs }: Extract<Hook, { argv: unknown }>,
  { event, runId, body }: HookCall,
  { root, env }: Project,
): Promise<Answer> {
  const { failure } = await runProcess({
    argv,
    cwd: root,
    env: { ...env, TASKFLOW_EVENT: event, TASKFLOW_RUN: runId },
    input: body,
    timeoutMs,
    onStdout: () => undefined,
    keepStdout: false,
  });
  // It need not read what it is given.
  return failure && { failed: [failure.message, lastLine(failure.detail)].filter(Boolean).join(': ') };
}

function lastLine(text = ''): string | undefined {
  return text.trimEnd().split('\n').at(-1);
}

function writeResult(file: string, { body }: HookCall, project: Project): Answer {
  const path = resolve(project.root, file);
  if (!isInside(realPath(project.root), realPath(path))) return { failed: 'it is outside of the project' };
  const written = writeOwnFile(project, path, { data: body, mode: 0o644 });
  return 'failed' in written ? { failed: whyUnwritable(written.failed) } : undefined;
}

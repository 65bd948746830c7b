import type { JsonObject } from '../../model/json.js';
import type { ProcessRequest } from '../../process/process.js';
import type { RenderedScript } from '../core/unit-job.js';

export interface Rendered {
  readonly argv: readonly string[];
  readonly input?: ProcessRequest['input'];
  readonly env: Readonly<Record<string, string>>;
  readonly identity: JsonObject;
  readonly unresolved: readonly string[];
}

/** What a rendered script is elsewhere; undefined where it reads a file of this machine. */
export function scriptBody({ argv, identity, env }: Rendered): RenderedScript | undefined {
  const { shell, input, inputBase64 } = identity;
  if (input !== undefined && typeof input !== 'string') return undefined;
  return {
    type: 'run',
    run: typeof shell === 'string' ? shell : argv,
    ...(input !== undefined && { input: { text: input } }),
    ...(typeof inputBase64 === 'string' && { input: { base64: inputBase64 } }),
    env: Object.keys(env),
  };
}

/** The same here. Values of variables are those of this machine: with others it makes another key. */
export function renderedScript(
  { run, input, env }: RenderedScript,
  own: Readonly<Record<string, string | undefined>>,
): Rendered {
  const isShell = typeof run === 'string';
  const command: JsonObject = isShell ? { shell: run } : { argv: run };
  const base = {
    argv: isShell ? ['sh', '-c', run] : run,
    env: Object.fromEntries(env.map((name) => [name, own[name] ?? ''])),
    unresolved: [],
  };
  if (!input) return { ...base, identity: command };
  if ('text' in input) return { ...base, input: input.text, identity: { ...command, input: input.text } };
  const { base64 } = input;
  return { ...base, input: Buffer.from(base64, 'base64'), identity: { ...command, inputBase64: base64 } };
}

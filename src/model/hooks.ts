import { parseDuration } from '../util/duration.js';
import { isJsonObject, isTextList, type JsonValue } from './json.js';

/** A program, a server or a file that a run reports to. A hook cannot change the run. */
export type Hook =
  | { readonly argv: readonly string[]; readonly timeoutMs: number }
  | {
      readonly url: string;
      /** The variable with the secret that signs the body. */
      readonly secretEnv?: string;
      readonly retries: number;
      readonly timeoutMs: number;
    }
  | { readonly file: string };

export const HOOK_EVENTS = ['onStart', 'onSuccess', 'onFail', 'onBlocked', 'onPaused', 'onEnd'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];
export type Hooks = { readonly [event in HookEvent]?: Hook };

const DEFAULT_RETRIES = 3;
const COMMAND_MS = 60_000;
const SERVER_MS = 10_000;

/** Reads a hook as people write it; undefined where it is invalid. */
export function readHook(written: JsonValue): Hook | undefined {
  if (typeof written === 'string' || Array.isArray(written)) return commandHook(written, COMMAND_MS);
  if (!isJsonObject(written)) return undefined;
  const { command, url, file, secret, timeout, retries = DEFAULT_RETRIES, ...others } = written;
  const limit = timeout === undefined ? undefined : parseDuration(timeout as string);
  const isKnown = Object.keys(others).length === 0 && (timeout === undefined || (limit !== undefined && limit > 0));
  if (!isKnown || [command, url, file].filter((kind) => kind !== undefined).length !== 1) return undefined;
  const isOfServer = secret !== undefined || written['retries'] !== undefined;
  if (url === undefined && isOfServer) return undefined;
  if (command !== undefined) return commandHook(command, limit ?? COMMAND_MS);
  if (file !== undefined) return typeof file === 'string' && file !== '' && limit === undefined ? { file } : undefined;
  return serverHook({ url, secret, retries }, limit ?? SERVER_MS);
}

function commandHook(command: JsonValue, timeoutMs: number): Hook | undefined {
  if (typeof command === 'string') return command === '' ? undefined : { argv: ['sh', '-c', command], timeoutMs };
  return isTextList(command) && command.length > 0 ? { argv: command, timeoutMs } : undefined;
}

type WrittenServer = { readonly [name in 'url' | 'secret' | 'retries']: JsonValue | undefined };

function serverHook({ url, secret, retries }: WrittenServer, timeoutMs: number): Hook | undefined {
  if (typeof url !== 'string' || !/^https?:\/\/\S+$/.test(url) || !URL.canParse(url)) return undefined;
  if (typeof retries !== 'number' || !Number.isInteger(retries) || retries < 0 || retries > 10) return undefined;
  if (secret === undefined) return { url, retries, timeoutMs };
  const name = isJsonObject(secret) && Object.keys(secret).length === 1 ? secret['env'] : undefined;
  const isName = typeof name === 'string' && /^[A-Za-z_]\w*$/.test(name);
  return isName ? { url, secretEnv: name, retries, timeoutMs } : undefined;
}

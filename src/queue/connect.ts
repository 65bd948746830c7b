import type { Redis } from 'ioredis';
import { type QueueAddress, queueAddress } from './address.js';

type Bullmq = typeof import('bullmq');

/** A connected queue server, with the libraries that use it. */
export interface QueueServer {
  readonly bullmq: Bullmq;
  readonly address: QueueAddress;
  /** A connection for commands. */
  readonly redis: Redis;
  /** One more connection, for blocking commands. */
  another(): Redis;
  /** What a restart of the server would lose; undefined when nothing. */
  volatile(): Promise<string | undefined>;
  close(): void;
}

interface ConnectProblem {
  readonly problem: string;
  readonly hint: string;
}

const CONNECT_MS = 5_000;

/** Connects, or says why not. Later it connects again by itself, for as long as it is open. */
export async function connectQueue(
  written: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<QueueServer | ConnectProblem> {
  const address = queueAddress(written, env);
  if ('problem' in address) return address;
  const loaded = await loadLibraries();
  if ('problem' in loaded) return loaded;
  const { bullmq, ioredis } = loaded;
  let refused = 'no answer';
  const open: Redis[] = [];
  const another = (): Redis => {
    const redis = new ioredis.Redis(address.url, {
      maxRetriesPerRequest: null,
      connectTimeout: CONNECT_MS,
      retryStrategy: (times) => Math.min(times * 100, 1_000),
    });
    // Without a listener an error ends the process. Whether commands get answers is checked elsewhere.
    redis.on('error', (error: Error) => {
      refused = error.message || String((error as NodeJS.ErrnoException).code);
    });
    open.push(redis);
    return redis;
  };
  const close = () => {
    for (const redis of open) redis.disconnect();
  };
  const redis = another();
  if (!(await answersWithin(redis, CONNECT_MS))) {
    close();
    return {
      problem: `the queue ${address.shown} does not answer (${refused})`,
      hint: 'is Redis or Valkey running there?',
    };
  }
  return { bullmq, address, redis, another, volatile: () => volatility(redis), close };
}

async function answersWithin(redis: Redis, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const answered = redis.ping().then(
    () => true,
    () => false,
  );
  const result = await Promise.race([answered, late]);
  clearTimeout(timer);
  return result;
}

async function volatility(redis: Redis): Promise<string | undefined> {
  try {
    const info = await redis.info('persistence');
    if (!/^aof_enabled:0/m.test(info)) return undefined;
  } catch {
    // The server does not tell.
    return undefined;
  }
  return 'it may lose what waits there when it restarts (appendonly is off); those units are sent again';
}

async function loadLibraries(): Promise<
  { bullmq: Bullmq; ioredis: Pick<typeof import('ioredis'), 'Redis'> } | ConnectProblem
> {
  try {
    const [bullmq, ioredis] = await Promise.all([import('bullmq'), import('ioredis')]);
    return { bullmq, ioredis };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const [, name = 'bullmq'] = /Cannot find (?:module|package) '(bullmq|ioredis)'/.exec(message) ?? [];
    return {
      problem: `workers need the package ${name}, which is not installed`,
      hint: 'npm install bullmq@6 ioredis@5 beside taskflow-cli (with -g if that is global)',
    };
  }
}

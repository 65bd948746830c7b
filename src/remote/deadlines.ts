import type { ClientRequest } from 'node:http';
import { systemClock } from '../util/clock.js';
import { formatDuration } from '../util/duration.js';

export interface ClientLimits {
  readonly connectMs: number;
  /** Without a byte in either direction. */
  readonly silentMs: number;
}

interface Watched {
  readonly request: ClientRequest;
  readonly fail: (why: string) => void;
}

/** How far one request is; its times are undefined while it waits for a connection. */
interface Progress extends Watched {
  beganAt?: number;
  isConnected?: true;
  /** What had gone through the connection before. */
  firstBytes?: number;
  bytes: number;
  movedAt: number;
}

const EVERY_MS = 25;
/** A slower body is given up: one byte now and then would take for ever. */
const SLOWEST_PER_MS = 256;

/** Ends requests that take too long. One timer for all: three timers for each would cost as much as a request. */
export class Deadlines {
  readonly #limits: ClientLimits;
  readonly #watched = new Set<Progress>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: ClientLimits) {
    this.#limits = limits;
  }

  /** Returns how to stop watching. */
  watch(request: Watched): () => void {
    const progress: Progress = { ...request, bytes: -1, movedAt: 0 };
    this.#watched.add(progress);
    this.#timer ??= setInterval(() => this.#lookAtAll(systemClock.elapsed()), EVERY_MS);
    return () => {
      this.#watched.delete(progress);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #lookAtAll(now: number): void {
    for (const progress of this.#watched) {
      const late = this.#whatIsLate(progress, now);
      if (late !== undefined) progress.fail(late);
    }
  }

  #whatIsLate(progress: Progress, now: number): string | undefined {
    const { connectMs, silentMs } = this.#limits;
    const { socket } = progress.request;
    if (!socket) return undefined;
    progress.beganAt ??= now;
    // Over TLS the first bytes are a part of connecting; without, there are none before.
    progress.isConnected ||=
      (!socket.connecting && !('secureConnecting' in socket && socket.secureConnecting)) || undefined;
    if (!progress.isConnected) {
      return now - progress.beganAt > connectMs ? `no connection within ${formatDuration(connectMs)}` : undefined;
    }
    const bytes = socket.bytesRead + socket.bytesWritten;
    if (bytes !== progress.bytes) {
      progress.bytes = bytes;
      progress.movedAt = now;
    }
    if (now - progress.movedAt > silentMs) return `no answer within ${formatDuration(silentMs)}`;
    progress.firstBytes ??= bytes;
    const totalMs = 1_000 + 3 * silentMs + (bytes - progress.firstBytes) / SLOWEST_PER_MS;
    const tookMs = now - progress.beganAt;
    return tookMs > totalMs ? `not done within ${formatDuration(Math.round(totalMs))}` : undefined;
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStream } from './event-stream.js';
import type { UiHost } from './host.js';
import type { RunList } from './run-list.js';
import type { Sessions } from './sessions.js';
import type { ShownRuns } from './shown-runs.js';

/** The state of one server. */
export interface Site {
  readonly port: number;
  readonly host: UiHost;
  readonly sessions: Sessions;
  readonly list: RunList;
  readonly shown: ShownRuns;
  /** Open event streams. */
  readonly streams: Set<EventStream>;
  /** Commands under way. */
  acting: number;
  /** Call it when a token was used: the next browser needs a new one. */
  renew(): void;
}

export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The part of the path that the pattern captured. */
  readonly part: string;
}

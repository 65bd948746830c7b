import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EventStream } from './event-stream.js';
import type { UiHost } from './host.js';
import type { RunList } from './run-list.js';
import type { Sessions } from './sessions.js';
import type { ShownRuns } from './shown-runs.js';

/** What the answers of one server share. */
export interface Site {
  readonly port: number;
  readonly host: UiHost;
  readonly sessions: Sessions;
  readonly list: RunList;
  readonly shown: ShownRuns;
  /** Browsers that listen. */
  readonly streams: Set<EventStream>;
  /** Commands under way. */
  acting: number;
  /** A token was used: another browser needs another one. */
  renew(): void;
}

export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** What the path's pattern has caught. */
  readonly part: string;
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foreign } from './access.js';
import { refused, send } from './answer.js';
import type { UiHost } from './host.js';
import { answer } from './routes.js';
import { RunList } from './run-list.js';
import { Sessions } from './sessions.js';
import { ShownRuns } from './shown-runs.js';
import type { Site } from './site.js';

/** A browser sends its requests at once: a slower client only holds a connection that others need. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
};
const MOST_CONNECTIONS = 256;

export interface UiServer {
  readonly port: number;
  /** Ends it at once, with all its connections. */
  close(): Promise<void>;
}

/** Serves the page on this machine alone. `port` 0: any that is free. */
export async function servePage(
  host: UiHost,
  port: number,
  limits: Partial<typeof LIMITS> = {},
): Promise<UiServer | { readonly inUse: true }> {
  let site: Site | undefined;
  const server = createServer({ ...LIMITS, ...limits }, (request, response) => void respond(site!, request, response));
  server.maxConnections = MOST_CONNECTIONS;
  if (!(await listening(server, port))) return { inUse: true };
  const { port: given } = server.address() as AddressInfo;
  site = createSite(host, given);
  host.announce(addressOf(site), true);
  return {
    port: given,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      ['EADDRINUSE', 'EACCES'].includes(error.code ?? '') ? resolve(false) : reject(error),
    );
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve(true));
  });
}

function createSite(host: UiHost, port: number): Site {
  const site: Site = {
    port,
    host,
    sessions: new Sessions(port),
    list: new RunList(host.project),
    shown: new ShownRuns(host.project, { mask: host.mask }),
    streams: new Set(),
    acting: 0,
    renew: () => host.announce(addressOf(site), false),
  };
  return site;
}

/** In the fragment, which no browser sends: no log, proxy or other site sees the token. */
function addressOf({ sessions, port }: Site): string {
  return `http://127.0.0.1:${port}/#${sessions.token}`;
}

async function respond(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A browser that disconnected is no problem.
  response.on('error', () => {});
  try {
    send(request, response, foreign(request, site.port) ?? (await answer(site, request, response)));
  } catch (error) {
    site.host.report(`internal error: ${error instanceof Error ? error.message : String(error)}`);
    if (response.headersSent) response.destroy();
    else send(request, response, refused(500, 'this is a bug in taskflow'));
  }
}

import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy on this machine: every name leads to the one server behind it. */
export interface ProxyServer {
  readonly url: string;
  /** `GET http://…` or `CONNECT host:port`, as they came. */
  readonly seen: string[];
  /** The credentials that came along. */
  readonly authorizations: Set<string | undefined>;
  /** Answers CONNECT instead of the proxy, if it returns true. */
  misbehave: ((socket: Socket) => boolean) | undefined;
  stop(): Promise<void>;
}

export async function startProxy(behind: { readonly port: number }): Promise<ProxyServer> {
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) => {
    state.seen.push(`${method} ${url}`);
    state.authorizations.add(headers['proxy-authorization']);
  };
  const server = createServer((asked, answer) => {
    note(asked);
    const { method, headers } = asked;
    const { pathname } = new URL(asked.url!);
    const onward = request({ host: '127.0.0.1', port: behind.port, method, path: pathname, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  server.on('connect', (asked: IncomingMessage, socket: Socket) => {
    note(asked);
    sockets.add(socket);
    socket.on('error', () => {});
    if (state.misbehave?.(socket)) return;
    const onward = connect(behind.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: ProxyServer = {
    url: `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    authorizations: new Set(),
    misbehave: undefined,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}

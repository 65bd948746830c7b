import { type ClientRequest, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { proxyAuthorization } from './proxy.js';

interface TunnelOptions extends AgentOptions {
  readonly proxy: URL;
  /** Time limit for the proxy's answer, before which the request has no connection. */
  readonly connectMs: number;
}

type Done = (error: Error | null, socket?: Duplex | null) => void;

/** Connects to servers through a proxy's tunnel (CONNECT), in which the proxy cannot read. */
export class TunnelAgent extends HttpsAgent {
  readonly #tunnel: TunnelOptions;

  constructor({ proxy, connectMs, ...options }: TunnelOptions) {
    super(options);
    this.#tunnel = { proxy, connectMs };
  }

  override createConnection(options: { host?: string | null; port?: string | number | null }, done: Done): undefined {
    const { host, port } = options;
    const ask = this.#ask(`${host?.includes(':') ? `[${host}]` : host}:${port}`);
    const fail = (why: string) => {
      clearTimeout(timer);
      ask.destroy();
      done(new Error(why));
    };
    const timer = setTimeout(() => fail('the proxy does not answer'), this.#tunnel.connectMs);
    ask.once('error', () => fail('the proxy cannot be reached'));
    ask.once('connect', ({ statusCode }, socket) => {
      clearTimeout(timer);
      if (statusCode === 200) return done(null, super.createConnection({ ...options, socket } as never));
      socket.destroy();
      done(new Error(`the proxy answers ${statusCode}`));
    });
    ask.end();
  }

  #ask(path: string): ClientRequest {
    const { proxy } = this.#tunnel;
    const { hostname, port, protocol } = proxy;
    const headers = { host: path, ...proxyAuthorization(proxy) };
    const options = {
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      method: 'CONNECT',
      path,
      headers,
      agent: false,
    };
    return protocol === 'https:' ? requestHttps(options) : requestHttp(options);
  }
}

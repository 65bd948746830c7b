import { type ClientRequest, Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { proxyAuthorization } from './proxy.js';
import { TunnelAgent } from './tunnel-agent.js';

interface RouteOptions {
  readonly proxy: URL | undefined;
  readonly connectMs: number;
  readonly kept: AgentOptions;
}

/** How requests reach one server: directly, through a proxy that reads them (http), or through a tunnel (https). */
export class Route {
  readonly #agent: HttpAgent;
  readonly #send: (options: RequestOptions) => ClientRequest;
  readonly #to: { readonly hostname: string; readonly port: string };
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: URL, { proxy, connectMs, kept }: RouteOptions) {
    const isTunnel = proxy !== undefined && origin.protocol === 'https:';
    const next = proxy && !isTunnel ? proxy : origin;
    const isHttps = next.protocol === 'https:';
    this.#agent = isTunnel
      ? new TunnelAgent({ ...kept, proxy, connectMs })
      : isHttps
        ? new HttpsAgent(kept)
        : new HttpAgent(kept);
    this.#send = isHttps ? requestHttps : requestHttp;
    this.#to = { hostname: next.hostname.replace(/^\[|\]$/g, ''), port: next.port };
    this.#prefix = next === origin ? '' : origin.origin;
    this.#headers = proxy && !isTunnel ? { host: origin.host, ...proxyAuthorization(proxy) } : {};
  }

  request({ method, path, headers, auth }: RoutedRequest): ClientRequest {
    const sent = this.#prefix === '' ? headers : { ...headers, ...this.#headers };
    const { hostname, port } = this.#to;
    const agent = this.#agent;
    return this.#send({ hostname, port, agent, method, path: this.#prefix + path, headers: sent, auth });
  }

  close(): void {
    this.#agent.destroy();
  }
}

interface RoutedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `NAME:PASSWORD` for the server. */
  readonly auth?: string;
}

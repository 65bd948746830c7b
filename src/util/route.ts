import { type ClientRequest, Agent as HttpAgent, type RequestOptions, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { basic, proxyAuthorization } from './proxy.js';
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
  /** Name, value, name, value … */
  readonly #headers: readonly string[];

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
    const allowed = proxy && !isTunnel ? proxyAuthorization(proxy) : {};
    this.#headers = ['Host', origin.host, ...Object.entries(allowed).flat()];
  }

  /** The caller sets the length of a body. */
  request({ method, path, headers, auth }: RoutedRequest): ClientRequest {
    // A list, because Node would turn an object into another object with a list for each header.
    const sent = [...this.#headers];
    for (const name of Object.keys(headers)) if (!/^host$/i.test(name)) sent.push(name, headers[name]!);
    if (auth !== undefined && headers['authorization'] === undefined) sent.push('Authorization', basic(auth));
    const { hostname, port } = this.#to;
    return this.#send({ hostname, port, agent: this.#agent, method, path: this.#prefix + path, headers: sent });
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

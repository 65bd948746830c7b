import { percentDecoded } from '../../util/if-there.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where traces go, and with what. */
export interface OtelTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** For all requests together. */
  readonly timeoutMs: number;
  /** `service.name` and the other attributes from the environment. */
  readonly resource: Readonly<Record<string, string>>;
  /** The span that this run is a part of, by `TRACEPARENT`. */
  readonly parent?: { readonly traceId: string; readonly spanId: string };
}

const DEFAULT_URL = 'http://localhost:4318';
const PATH = '/v1/traces';
const DEFAULT_TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 10 * 60_000;

/** `given`: the address of `--otel`, which may be empty. Variables have OpenTelemetry's names. */
export function otelTarget(env: Environment, given: string | undefined): OtelTarget | { readonly problem: string } {
  const address = given ?? settingOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? DEFAULT_URL;
  const whole = given === undefined ? settingOf(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') : undefined;
  const url = whole ?? withPath(address);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return { problem: `${url} is not an address` };
  const protocol = settingOf(env, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc' && given === undefined) {
    return {
      problem: 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc; only HTTP is spoken here, name its address with --otel=URL',
    };
  }
  const timeout = Number(settingOf(env, 'OTEL_EXPORTER_OTLP_TIMEOUT'));
  const headers = {
    ...pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...pairsOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
  };
  const service = settingOf(env, 'OTEL_SERVICE_NAME');
  return {
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    timeoutMs: timeout > 0 ? Math.min(timeout, LONGEST_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS,
    resource: {
      'service.name': 'taskflow',
      ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(service !== undefined && { 'service.name': service }),
    },
    ...parentOf(env['TRACEPARENT']),
  };
}

/** An address for messages, without the credentials in it. */
export function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

function settingOf(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

function withPath(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (!url.pathname.endsWith(PATH)) url.pathname = url.pathname.replace(/\/+$/, '') + PATH;
  return url.href;
}

/** `key=value,key2=value%202`. Ignores anything else. */
function pairsOf(env: Environment, name: string): Record<string, string> {
  const pairs = (env[name] ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    return at > 0 && key !== '' ? [[key, percentDecoded(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

/** W3C `traceparent`; anything else is ignored. */
function parentOf(traceparent: string | undefined): Pick<OtelTarget, 'parent'> {
  const [, version, traceId = '', spanId = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/.exec(traceparent?.trim() ?? '') ?? [];
  const isNone = version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId);
  return isNone ? {} : { parent: { traceId, spanId } };
}

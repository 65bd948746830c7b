import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why a request is refused. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly hint?: string;
}

export interface Refused {
  readonly refusal: Refusal;
}

/** `written`: the response is under way or over. */
export type PageAnswer = { readonly json: unknown; readonly cookie?: string } | { readonly written: true } | Refused;

export function refused(status: number, message: string, hint?: string): Refused {
  return { refusal: { status, message, ...(hint === undefined ? {} : { hint }) } };
}

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** For answers other than the page: even if a browser takes one for a page, nothing in it may act. */
const INERT = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const JSON_TYPE = 'application/json; charset=utf-8';

interface Head {
  readonly status?: number;
  readonly type: string;
  readonly policy?: string;
  readonly more?: Readonly<Record<string, string>>;
}

export function writeHead(response: ServerResponse, { status = 200, type, policy = INERT, more }: Head): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type, 'content-security-policy': policy, ...more });
}

export function send(request: IncomingMessage, response: ServerResponse, answer: PageAnswer): void {
  if ('written' in answer) return;
  if ('refusal' in answer) {
    sendRefusal(request, response, answer.refusal);
    return;
  }
  writeHead(response, { type: JSON_TYPE, more: answer.cookie ? { 'set-cookie': answer.cookie } : {} });
  response.end(JSON.stringify(answer.json));
}

/** Closes the connection if the request was not read to its end. */
function sendRefusal(request: IncomingMessage, response: ServerResponse, { status, ...error }: Refusal): void {
  const more: Record<string, string> = status === 405 ? { allow: 'GET, POST' } : {};
  if (!request.complete) more['connection'] = 'close';
  writeHead(response, { status, type: JSON_TYPE, more });
  response.end(JSON.stringify({ error }));
}

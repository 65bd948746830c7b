import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mayPut } from '../support/cache-server.js';

/**
 * The conditions of a PUT as S3 has them since 2024, in front of a server that is older: it asks the server for the
 * object's tag, one PUT at a time, and hands on everything else as it is.
 */
export async function startConditionalFront(port: number): Promise<{ readonly port: number; stop(): Promise<void> }> {
  let last: Promise<void> = Promise.resolve();
  const front = createServer((asked, answer) => {
    const { 'if-none-match': none, 'if-match': match } = asked.headers;
    if (none === undefined && match === undefined) return void pass(port, asked, answer);
    last = last.then(async () => {
      if (mayPut(asked, await tagAt(port, asked))) return pass(port, asked, answer);
      asked.resume();
      answer.writeHead(412).end();
    });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return {
    port: (front.address() as AddressInfo).port,
    stop: () => {
      front.closeAllConnections();
      return new Promise((resolve) => front.close(() => resolve()));
    },
  };
}

function pass(port: number, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const { method, url: path, headers } = asked;
  const { 'if-none-match': _none, 'if-match': _match, ...rest } = headers;
  return new Promise((resolve) => {
    const onward = request({ host: '127.0.0.1', port, method, path, headers: rest }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer).once('close', resolve);
    });
    onward.once('error', () => {
      answer.destroy();
      resolve();
    });
    asked.pipe(onward);
  });
}

function tagAt(port: number, { url: path, headers: { host, ...rest } }: IncomingMessage): Promise<string | undefined> {
  const ofSigner = Object.entries(rest).filter(([name]) => /^(authorization|x-amz-.*)$/.test(name));
  return new Promise((resolve, reject) => {
    const headers = { host, ...Object.fromEntries(ofSigner) };
    const head = request({ host: '127.0.0.1', port, method: 'HEAD', path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? response.headers.etag : undefined);
    });
    head.once('error', reject);
    head.end();
  });
}

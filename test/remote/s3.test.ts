import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { s3Protocol } from '../../src/remote/s3-protocol.js';
import { contractOf, type ServerUnderTest } from '../shared/contract.js';
import { startConditionalFront } from './conditional-front.js';
import { INSTALLED, startServer } from './start-server.js';

function serverAt(port: number, stop: () => Promise<void>): ServerUnderTest {
  const remote = { url: 's3://results/team', endpoint: `http://127.0.0.1:${port}` };
  const key = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_REGION: 'eu-central-1' };
  return {
    remote,
    env: { ...key, AWS_SECRET_ACCESS_KEY: 'S3RVER' },
    // It knows keys, and does not check signatures: the test below does.
    strangers: { remote, env: { ...key, AWS_ACCESS_KEY_ID: 'STRANGER', AWS_SECRET_ACCESS_KEY: 'S3RVER' } },
    stop,
  };
}

const startS3 = () =>
  startServer((onPort, folder) => ({
    argv: [
      ...[process.execPath, `${INSTALLED}/s3rver/bin/s3rver.js`, '-d', folder, '-a', '127.0.0.1', '-p', `${onPort}`],
      ...['--configure-bucket', 'results'],
    ],
  }));

contractOf('a server that speaks S3', async () => {
  const { port, stop } = await startS3();
  return serverAt(port, stop);
});

// s3rver is older than the conditions of S3: a small front adds them.
contractOf('a server that speaks S3, with conditions', async () => {
  const old = await startS3();
  const front = await startConditionalFront(old.port);
  const stop = async () => {
    await front.stop();
    await old.stop();
  };
  return { ...serverAt(front.port, stop), canLease: true };
});

/** Of the AWS SDK; its types are not there where it is not installed. */
const { SignatureV4 } = createRequire(import.meta.url)('@smithy/signature-v4');

/** What the signer of the AWS SDK wants of a hash function. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}

it.each(['GET', 'HEAD', 'PUT'] as const)('the signature of a %s is that of the AWS SDK', async (method) => {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a/secret+key', sessionToken: 'a-session' };
  const region = 'eu-central-1';
  const { origin, request } = s3Protocol({ address: 'https://s3.amazonaws.com/bucket/team', region, credentials });
  const item = { kind: 'cas', name: 'ab'.repeat(32) } as const;
  const { path, headers } = request({ method, item, digest: method === 'PUT' ? item.name : undefined });
  expect(origin.host).toBe('s3.eu-central-1.amazonaws.com');
  const [signed] = /SignedHeaders=([^,]+)/.exec(headers['Authorization']!)!.slice(1);
  const names = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const date = names.get('x-amz-date')!.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const signer = new SignatureV4({ service: 's3', region, credentials, sha256: Sha256 as never, uriEscapePath: false });
  const sent = Object.fromEntries(signed!.split(';').map((name) => [name, names.get(name) ?? origin.host]));
  const theirs = await signer.sign(
    { method, protocol: 'https:', hostname: origin.hostname, path, query: {}, headers: sent },
    { signingDate: new Date(date) },
  );
  expect(headers['Authorization']).toBe(theirs.headers['authorization']);
});

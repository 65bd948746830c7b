import aws4 from 'aws4';
import type { Protocol } from './protocol.js';

interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface S3Options {
  /** The server with the bucket as the first part of its path: `https://host/bucket/prefix`. */
  readonly address: string;
  readonly region: string;
  /** Without them a bucket that everybody can read is still read. */
  readonly credentials: S3Credentials | undefined;
}

/** SHA-256 of nothing. */
const NO_BODY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Objects named `PREFIX/ac/KEY` and `PREFIX/cas/DIGEST`; each request is signed. */
export function s3Protocol({ address, region, credentials }: S3Options): Protocol {
  const origin = regional(new URL(address), region);
  const base = origin.pathname.replace(/\/+$/, '');
  return {
    name: 's3',
    origin,
    request: ({ method, item: { kind, name }, digest = NO_BODY }) => {
      const path = `${base}/${kind}/${name}`;
      if (!credentials) return { path, headers: {} };
      const headers = { 'X-Amz-Content-Sha256': digest };
      const signed = aws4.sign({ service: 's3', region, host: origin.host, method, path, headers }, { ...credentials });
      return { path, headers: signed.headers as Record<string, string> };
    },
  };
}

/** AWS has a server in each region. */
function regional(address: URL, region: string): URL {
  if (address.hostname === 's3.amazonaws.com' && region !== 'us-east-1')
    address.hostname = `s3.${region}.amazonaws.com`;
  return address;
}

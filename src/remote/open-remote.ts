import type { Project } from '../util/project.js';
import { proxyFor } from '../util/proxy.js';
import { httpProtocol } from './http-protocol.js';
import type { Protocol } from './protocol.js';
import { Remote } from './remote.js';
import type { RemoteSettings } from './settings.js';

export async function openRemote(settings: RemoteSettings, { env }: Pick<Project, 'env'>): Promise<Remote> {
  const protocol = await openProtocol(settings, env);
  const { connectMs, silentMs } = settings;
  return new Remote(protocol, { connectMs, silentMs, proxy: proxyFor(protocol.origin, env) });
}

async function openProtocol({ url, address, token }: RemoteSettings, env: Project['env']): Promise<Protocol> {
  if (url.startsWith('s3:')) {
    const { s3Protocol } = await import('./s3-protocol.js');
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
    const sessionToken = env['AWS_SESSION_TOKEN'];
    const credentials =
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
        : undefined;
    return s3Protocol({ address, region: env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1', credentials });
  }
  if (!url.startsWith('turbo+')) return httpProtocol(address, token);
  const { turboProtocol } = await import('./turbo-protocol.js');
  return turboProtocol(address, token);
}

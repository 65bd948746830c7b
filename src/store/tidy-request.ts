import type { StoreOptions } from './options.js';

/** What the process that tidies a large store is given, through a pipe: a signing key must not be seen by others. */
interface TidyRequest extends Pick<StoreOptions, 'dir' | 'limits'> {
  readonly root: string;
  readonly home: string;
  /** Base64. */
  readonly signingKey?: string;
}

export function encodeTidyRequest({ dir, limits, project, signingKey }: StoreOptions): string {
  const key = signingKey === undefined ? undefined : Buffer.from(signingKey).toString('base64');
  return JSON.stringify({ dir, limits, root: project.root, home: project.home, signingKey: key } satisfies TidyRequest);
}

export function decodeTidyRequest(
  text: string,
  surroundings: Pick<StoreOptions['project'], 'env' | 'clock'>,
): Omit<StoreOptions, 'onWarning'> {
  const { dir, limits, root, home, signingKey } = JSON.parse(text) as TidyRequest;
  const key = signingKey === undefined ? {} : { signingKey: Buffer.from(signingKey, 'base64') };
  return { dir, limits, project: { root, home, ...surroundings }, ...key };
}

/** An entry by its key (`ac`), or a blob by its digest (`cas`). */
export interface Item {
  readonly kind: 'ac' | 'cas';
  readonly name: string;
}

export type Method = 'GET' | 'HEAD' | 'PUT';

interface RemoteCall {
  readonly method: Method;
  readonly item: Item;
  /** Of a PUT: the digest of what is sent. */
  readonly digest?: string;
}

/** How a server is asked: each protocol is HTTP with paths and headers of its own. */
export interface Protocol {
  readonly name: 'http' | 's3' | 'turbo';
  /** Scheme, host and port. */
  readonly origin: URL;
  request(call: RemoteCall): { readonly path: string; readonly headers: Readonly<Record<string, string>> };
}

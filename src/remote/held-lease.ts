import { encodeLease, type LeaseText, leaseItem } from './lease-object.js';
import type { Lease } from './leases.js';
import type { Condition, Remote, Written } from './remote.js';
import type { Signer } from './trust.js';

interface HeldOptions {
  readonly remote: Remote;
  readonly signer: Signer;
  readonly beatMs: number;
  /** Whether the server takes writes; if not, the release is not sent. */
  readonly mayWrite: () => boolean;
  readonly onReleased: (lease: HeldLease) => void;
}

/** A lease of ours: renews itself until it is released. One request at a time, so that none overtakes another. */
export class HeldLease implements Lease {
  readonly #timer: NodeJS.Timeout;
  #last: Promise<void> = Promise.resolve();
  #condition: Condition;
  #isOver = false;

  constructor(
    private readonly options: HeldOptions,
    private text: LeaseText,
    { etag }: Extract<Written, { readonly written: true }>,
  ) {
    this.#condition = { etag };
    this.#timer = setInterval(() => this.#write(false), options.beatMs).unref();
  }

  /** Resolves when the release is on the server. */
  get released(): Promise<void> {
    return this.#last;
  }

  release(): void {
    if (this.#isOver) return;
    this.#end();
    this.#write(true);
    void this.#last.then(() => this.options.onReleased(this));
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  #write(isReleased: boolean): void {
    this.#last = this.#last.then(async () => {
      const { remote, signer, mayWrite } = this.options;
      if (this.#isOver !== isReleased || !mayWrite()) return;
      const text = { ...this.text, beat: this.text.beat + 1, isReleased };
      const upload = encodeLease(text, signer);
      const put = await remote.putIf(leaseItem(text.key), { upload, condition: this.#condition });
      // Another machine took us for dead and took the lease over: do not change it any more.
      if ('taken' in put) this.#end();
      if (!('written' in put)) return;
      this.text = text;
      this.#condition = { etag: put.etag };
    });
  }
}

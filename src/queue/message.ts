import type { JsonObject } from '../model/json.js';
import { distrust, type Purpose, type Signer, type Trust } from '../remote/trust.js';
import type { DeclaredFile, UnitAnswer, UnitJob } from '../run/core/unit-job.js';
import { VERSION } from '../util/version.js';

/** Raised when the format changes: workers and coordinators of different versions ignore each other. */
const PROTOCOL = 1;

export const QUEUE = 'taskflow-units';
/** Published with a key: the worker of that unit should stop. A hint, because it is not signed. */
export const CANCEL_CHANNEL = 'taskflow-units-cancel';

/** A unit with the state of the project that it is to be done in. */
export interface Order {
  readonly protocol: number;
  readonly taskflow: string;
  /** New each time: an answer belongs to one order. */
  readonly id: string;
  readonly commit: string;
  /** The project's folder in its repository: `''` or `sub/folder/`. */
  readonly prefix: string;
  /** Files that are not as in the commit; their bytes are in the shared store. */
  readonly files: readonly DeclaredFile[];
  /** Files of the commit that are not there. */
  readonly absent: readonly string[];
  readonly job: UnitJob;
}

interface Reply {
  readonly key: string;
  readonly order: string;
  readonly answer: UnitAnswer;
}

/** A message in the queue: a text and its signature. */
export interface Sealed {
  readonly text: string;
  readonly signature: string;
}

export function sealOrder(order: Omit<Order, 'protocol' | 'taskflow'>, signer: Signer): Sealed {
  return seal({ protocol: PROTOCOL, taskflow: VERSION, ...order }, signer, 'job');
}

export function sealReply(reply: Reply, signer: Signer): Sealed {
  return seal(reply, signer, 'answer');
}

function seal(value: object, signer: Signer, purpose: Purpose): Sealed {
  const text = JSON.stringify(value);
  return { text, signature: signer.sign(Buffer.from(text), purpose) };
}

/** Accepts only what a trusted key signed, even with `trust: none`: anybody who knows its address can use a queue. */
function unseal(
  sealed: unknown,
  trust: Trust,
  purpose: Purpose,
): { readonly value: JsonObject } | { readonly refused: string } {
  const { text, signature } = (sealed ?? {}) as Partial<Sealed>;
  if (typeof text !== 'string' || typeof signature !== 'string') return { refused: `${purpose} is not signed` };
  const refused = distrust({ ...trust, isOff: false }, { text: Buffer.from(text), line: signature, purpose });
  if (refused !== undefined) return { refused };
  try {
    return { value: JSON.parse(text) as JsonObject };
  } catch {
    return { refused: `${purpose} cannot be read` };
  }
}

export function openOrder(sealed: unknown, trust: Trust): { readonly order: Order } | { readonly refused: string } {
  const opened = unseal(sealed, trust, 'job');
  if ('refused' in opened) return opened;
  const { protocol, taskflow } = opened.value;
  if (protocol !== PROTOCOL || taskflow !== VERSION) {
    return { refused: `it was sent by taskflow ${String(taskflow)}, and the worker is ${VERSION}` };
  }
  return { order: opened.value as unknown as Order };
}

/** The reply to this very order. */
export function openReply(
  sealed: unknown,
  trust: Trust,
  { key, order }: { readonly key: string; readonly order: string | undefined },
): UnitAnswer {
  const opened = unseal(sealed, trust, 'answer');
  if ('refused' in opened) return { stays: opened.refused };
  const reply = opened.value as unknown as Reply;
  return reply.key === key && reply.order === order ? reply.answer : { stays: 'the answer belongs to something else' };
}

/** The id of an order in the queue, not verified. */
export function orderId(sealed: unknown): string | undefined {
  try {
    return (JSON.parse((sealed as Sealed).text) as Order).id;
  } catch {
    // Not a message of ours.
    return undefined;
  }
}

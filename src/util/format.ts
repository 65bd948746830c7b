import { formatDuration } from './duration.js';

/** `$0.04`, `$12.30`, `$0.0012` (small amounts keep two significant digits), `$0.00`. */
export function formatMoney(usd: number): string {
  const sign = usd < 0 ? '-' : '';
  const amount = Math.abs(usd);
  if (amount === 0 || amount >= 0.01) return `${sign}$${amount.toFixed(2)}`;
  if (amount < 0.00001) return `${sign}<$0.00001`;
  return `${sign}$${amount.toFixed(Math.min(6, 1 - Math.floor(Math.log10(amount))))}`;
}

interface Spent {
  /** Null where the price is not known. */
  readonly usd: number | null;
  readonly tokens: number;
}

interface Saved extends Spent {
  readonly ms: number;
}

/** What was spent, in a table: the price if it is known, else the tokens. */
export function formatSpent({ usd, tokens }: Spent): string {
  if (usd !== null) return formatMoney(usd);
  return tokens > 0 ? `${formatCount(tokens)} tokens` : '–';
}

/** In a sentence: `$0.12 (12.3k tokens)`, `10 tokens (price unknown)`. */
export function formatCost({ usd, tokens }: Spent): string {
  const counted = tokens > 0 ? `${formatCount(tokens)} tokens` : '';
  if (usd === null) return counted === '' ? UNKNOWN : `${counted} (${UNKNOWN})`;
  return counted === '' ? formatMoney(usd) : `${formatMoney(usd)} (${counted})`;
}

const UNKNOWN = 'price unknown';

/**
 * `spent $0.12 (12.3k tokens) · saved $0.40 (30k tokens, 3m)`. Without a model there is no price: then `saved 3m`, or
 * nothing. An unknown price is mentioned once.
 */
export function formatBill(spent: Spent, saved: Saved): string {
  const isFree = [spent, saved].every(({ usd, tokens }) => usd === 0 && tokens === 0);
  const amounts = savedAmounts(saved);
  if (isFree) return amounts === '' ? '' : `saved ${amounts}`;
  const paid = spent.usd === null && spent.tokens === 0 ? UNKNOWN : `spent ${formatCost(spent)}`;
  if (saved.usd !== null) return `${paid} · saved ${amounts || 'nothing'}`;
  if (spent.usd === null) return amounts === '' ? paid : `${paid} · saved ${amounts}`;
  return `${paid} · saved ${amounts === '' ? UNKNOWN : `${amounts} (${UNKNOWN})`}`;
}

/** `$0.40 (30k tokens, 3m)`, `30k tokens, 3m`, `3m`. */
function savedAmounts({ usd, tokens, ms }: Saved): string {
  const counted = tokens > 0 ? [`${formatCount(tokens)} tokens`] : [];
  if (ms >= 1) counted.push(formatDuration(ms));
  const rest = counted.join(', ');
  if (usd === null || usd === 0) return rest;
  return rest === '' ? formatMoney(usd) : `${formatMoney(usd)} (${rest})`;
}

/** `$0.04, 12s`: what reuse has saved. Empty when it saved next to nothing, or the amount is unknown. */
export function formatSaved(saved: Saved): string {
  const { usd, tokens, ms } = saved;
  const amounts: string[] = [];
  if (usd !== null && usd > 0) amounts.push(formatMoney(usd));
  else if (tokens > 0) amounts.push(`${formatCount(tokens)} tokens`);
  if (ms >= 1) amounts.push(formatDuration(ms));
  return amounts.join(', ');
}

/** Tokens and other counts: `950`, `12.3k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${scaled(count / 1_000)}k`;
  if (count < 999_950_000) return `${scaled(count / 1_000_000)}M`;
  return `${scaled(count / 1_000_000_000)}G`;
}

/** `512 B`, `1.5 KB`, `3 MB`, `1 GB`; 1 KB is 1,024 bytes, as in the settings. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_023.5 && unit < units.length - 1) {
    amount /= 1_024;
    unit++;
  }
  return `${unit === 0 ? Math.round(amount) : scaled(amount)} ${units[unit]}`;
}

/** `1,234`. The first `toLocaleString` would load the tables of all languages, which takes longer than a small run. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 phase`, `3 phases`, `2 entries`. */
export function plural(count: number, singular: string, plural_ = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : plural_}`;
}

function scaled(amount: number): string {
  const text = amount >= 100 ? amount.toFixed(0) : amount.toFixed(1);
  return text.endsWith('.0') ? text.slice(0, -2) : text;
}

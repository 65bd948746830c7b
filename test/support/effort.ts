/** `npm run test:long` does more of the same: more seeds, more steps, more rows. */
const FULL = process.env['TASKFLOW_FULL'] === '1';

export function effort<T>(usual: T, full: T): T {
  return FULL ? full : usual;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DURATION = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d|w)?$/;

/**
 * Milliseconds of `90s`, `1.5h`, `250ms`, or of a plain number (milliseconds already); undefined when the text is no
 * duration or is too large to count exactly.
 */
export function parseDuration(value: string | number): number | undefined {
  if (typeof value === 'number') return isCountable(value) ? value : undefined;
  const match = DURATION.exec(value.trim());
  if (!match) return undefined;
  const ms = Math.round(Number(match[1]) * UNITS[match[2] ?? 'ms']!);
  return isCountable(ms) ? ms : undefined;
}

function isCountable(ms: number): boolean {
  return Number.isFinite(ms) && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER;
}

/** As people write it: `340ms`, `1.2s`, `12s`, `6m`, `1h 5m`, `7h`, `3d`. Two units at the most. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  if (ms < 9_950) return `${trimZero((ms / 1_000).toFixed(1))}s`;
  if (ms < 59_500) return `${Math.round(ms / 1_000)}s`;
  if (ms < 3_570_000) return inUnits(Math.round(ms / 1_000), { factor: 60, big: 'm', small: 's' });
  if (ms < 84_600_000) return inUnits(Math.round(ms / 60_000), { factor: 60, big: 'h', small: 'm' });
  return inUnits(Math.round(ms / 3_600_000), { factor: 24, big: 'd', small: 'h' });
}

/** `6m ago`; `2h ahead of the clock` for a time that a wrong clock gave. */
export function formatAgo(ms: number): string {
  return ms < 0 ? `${formatDuration(-ms)} ahead of the clock` : `${formatDuration(ms)} ago`;
}

/** `5m 30s`, but `12m`: from ten on the smaller unit no longer matters. */
function inUnits(count: number, { factor, big, small }: { factor: number; big: string; small: string }): string {
  const whole = Math.floor(count / factor);
  const rest = count % factor;
  if (rest === 0) return `${whole}${big}`;
  return whole < 10 ? `${whole}${big} ${rest}${small}` : `${Math.round(count / factor)}${big}`;
}

function trimZero(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text;
}

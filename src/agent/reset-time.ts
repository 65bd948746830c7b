/** When a provider says that its limit resets: ms since the epoch; undefined where its message holds no time. */
export function resetTime(words: string, now: number): number | undefined {
  // Typographic spaces and apostrophes come from the same providers as plain ones.
  const text = words.replaceAll(/[\u00a0\u2007\u202f]/g, ' ');
  return epochIn(text) ?? momentIn(text) ?? afterIn(text, now) ?? clockIn(text, now);
}

/** A point in time as a program says it: seconds or milliseconds since the epoch, or an ISO date. */
export function momentOf(value: unknown): number | undefined {
  if (typeof value === 'number') return epochMs(value);
  if (typeof value !== 'string') return undefined;
  if (/^\d{10,13}$/.test(value.trim())) return epochMs(Number(value));
  return ISO.test(value) ? epochMs(Date.parse(value)) : undefined;
}

/** Nobody means a time before 1973 in milliseconds, nor one after the year 5000 in seconds. */
const LEAST_MS = 1e11;

function epochMs(value: number): number | undefined {
  if (!Number.isFinite(value) || value <= 0) return undefined;
  const ms = value < LEAST_MS ? value * 1_000 : value;
  return ms <= LATEST_MS ? ms : undefined;
}

/** The last moment that a `Date` can hold. */
const LATEST_MS = 8.64e15;

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/;

/** `usage limit reached|1760000400`, `"resets_at":1775317531`. */
function epochIn(text: string): number | undefined {
  const [, digits] = /(?:\||resets?_?at"?\s*[:=]\s*"?)(\d{10,13})\b/i.exec(text) ?? [];
  return momentOf(digits);
}

function momentIn(text: string): number | undefined {
  return momentOf(ISO.exec(text)?.[0]);
}

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
const PART = String.raw`\d+(?:\.\d+)? ?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])\b`;
const AFTER = new RegExp(String.raw`\b(?:again|resets?) in ~?(${PART}(?:(?:, | and | )?${PART})*)`, 'i');

/** `try again in 4 days 20 hours 9 minutes`, `Try again in ~43 min.`, `"resets_in_seconds":602705`. */
function afterIn(text: string, now: number): number | undefined {
  const [, seconds] = /resets?_in_seconds"?\s*[:=]\s*"?(\d+)/i.exec(text) ?? [];
  if (seconds !== undefined) return now + Number(seconds) * 1_000;
  if (/\b(?:again|resets?) in less than a minute/i.test(text)) return now + 60_000;
  const [, parts] = AFTER.exec(text) ?? [];
  if (parts === undefined) return undefined;
  let ms = 0;
  for (const [, count = '', unit = ''] of parts.matchAll(/(\d+(?:\.\d+)?) ?([a-z])/gi)) {
    ms += Number(count) * UNIT_MS[unit.toLowerCase()]!;
  }
  return now + ms;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`;
const DATE = String.raw`(?<month>${MONTHS.join('|')})[a-z]* ${DAY}(?:,? (?<year>\d{4}))?,? (?:at )?`;
const TIME = String.raw`(?<hour>\d{1,2})(?::(?<minute>\d\d))? ?(?<half>[ap]m)?\b`;
const CLOCK = new RegExp(
  String.raw`\b(?:resets?|again)(?: at| on|:)? (?:${DATE})?${TIME}(?: \((?<zone>[\w+/-]+)\))?`,
  'i',
);

/** A time of day that has just passed is not meant for tomorrow. */
const JUST_NOW_MS = 15 * 60_000;

/** `resets 3pm`, `resets 4:50am (Europe/Rome)`, `try again at Jul 5th, 2026 8:19 PM`, `will reset at Oct 6, 6pm`. */
function clockIn(text: string, now: number): number | undefined {
  const { month, day, year, hour, minute, half, zone } = CLOCK.exec(text)?.groups ?? {};
  if (hour === undefined || (minute === undefined && half === undefined)) return undefined;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  if (hours > 23 || Number(minute ?? 0) > 59) return undefined;
  const place = placeOf(zone);
  const today = place.read(now);
  const at = (date: Partial<WallTime>) => place.write({ ...today, hours, minutes: Number(minute ?? 0), ...date });
  if (month === undefined || day === undefined) {
    const then = at({});
    return then >= now - JUST_NOW_MS ? then : at({ day: today.day + 1 });
  }
  const date = { month: MONTHS.indexOf(month.toLowerCase()), day: Number(day) };
  if (year !== undefined) return at({ ...date, year: Number(year) });
  const then = at(date);
  // In December, January is that of the next year.
  return then >= now - 180 * 86_400_000 ? then : at({ ...date, year: today.year + 1 });
}

interface WallTime {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
}

/** Converts wall time in a time zone: this machine's where none is named or the name is unknown. */
function placeOf(zone: string | undefined): { read(ms: number): WallTime; write(time: WallTime): number } {
  const format = zone === undefined ? undefined : formatOf(zone);
  if (!format) return LOCAL;
  const read = (ms: number): WallTime => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
    return { year, month: month - 1, day, hours: hour, minutes: minute };
  };
  const asUtc = ({ year, month, day, hours, minutes }: WallTime) => Date.UTC(year, month, day, hours, minutes);
  return {
    read,
    // Twice: the first guess may be on the other side of a daylight-saving change, with another offset.
    write: (time) => {
      const wanted = asUtc(time);
      const guess = wanted - (asUtc(read(wanted)) - wanted);
      return guess + (wanted - asUtc(read(guess)));
    },
  };
}

const LOCAL = {
  read: (ms: number): WallTime => {
    const date = new Date(ms);
    return {
      year: date.getFullYear(),
      month: date.getMonth(),
      day: date.getDate(),
      hours: date.getHours(),
      minutes: date.getMinutes(),
    };
  },
  write: ({ year, month, day, hours, minutes }: WallTime) => new Date(year, month, day, hours, minutes).getTime(),
};

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    const number = 'numeric';
    const fields = { year: number, month: number, day: number, hour: number, minute: number } as const;
    return new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields });
  } catch {
    // No zone that this machine knows.
    return undefined;
  }
}

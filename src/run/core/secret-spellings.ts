/** Shorter lines of a secret are in every text, and say nothing. */
const TELLING_LINE = 8;
/** Shorter than this, other spellings are in too many texts by chance. */
const TELLING_SPELLING = 6;

/**
 * How a secret may be written: as it is; line by line, as programs print it; and as JSON, addresses and base64 encode
 * it. The longest first.
 */
export function spellings(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.length >= TELLING_LINE);
  const plain = [...new Set([text, ...lines])];
  const others = plain.flatMap((value) => [...inJson(value), ...inAddresses(value), ...inBase64(value)]);
  const all = new Set([...plain, ...others.filter((value) => value.length >= TELLING_SPELLING)]);
  return [...all].sort((a, b) => b.length - a.length);
}

/** Quotes, backslashes and line ends; once, twice, with all but ASCII or the slash escaped too. */
function inJson(text: string): string[] {
  const quoted = (value: string) => JSON.stringify(value).slice(1, -1);
  const ascii = (value: string) =>
    value.replaceAll(/[^\x00-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const once = quoted(text);
  return [once, quoted(once), ascii(once), once.replaceAll('/', '\\/'), ascii(once).replaceAll('/', '\\/')];
}

/** Some write a blank as `+`, some escape all punctuation, some write the escapes in small letters. */
function inAddresses(text: string): string[] {
  const usual = encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
  const strict = usual.replaceAll(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = [usual, strict].flatMap((value) => [value, value.replaceAll('%20', '+')]);
  return form.flatMap((value) => [value, value.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())]);
}

/** Characters of base64 that also depend on the bytes before, by how many those are, modulo three. */
const MIXED_BEFORE = [0, 2, 3];

/** `base64` and `openssl` break a long text into lines of this many characters. */
const WIDTHS = [64, 76];

function lines(encoded: string): string[] {
  const broken = WIDTHS.flatMap((width) => encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []);
  return encoded.length > WIDTHS[0]! ? broken.filter((line) => line.length >= TELLING_LINE) : [];
}

/** Both alphabets; alone, and as a part of something longer, which may begin at any of three places. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const alone = bytes.toString('base64');
  const within = MIXED_BEFORE.map((mixed, before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(mixed, Math.floor(((before + bytes.length) * 8) / 6));
  });
  return [alone, ...lines(alone), ...within].flatMap((value) => [
    value,
    value.replaceAll('+', '-').replaceAll('/', '_'),
  ]);
}

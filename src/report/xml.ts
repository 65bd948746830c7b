/** Escapes text for XML. Leaves out control characters, most of which XML cannot hold. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '')
    .replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

/** Escapes line ends and tabs, which a parser would turn into blanks in an attribute. */
export function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = escapeXml(String(value)).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
      return ` ${name}="${text}"`;
    })
    .join('');
}

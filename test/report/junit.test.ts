import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { junitXml } from '../../src/report/junit.js';

/** A strict little reader of the XML that we write: throws at anything that is not well-formed. */
function readXml(xml: string): { name: string; attributes: Record<string, string>; text: string }[] {
  const elements: { name: string; attributes: Record<string, string>; text: string }[] = [];
  const open: string[] = [];
  let current: (typeof elements)[number] | undefined;
  const body = xml.replace(/^<\?xml[^?]*\?>\n/, '');
  const token = /<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+)/gy;
  for (let end = 0; end < body.length; end = token.lastIndex) {
    token.lastIndex = end;
    const match = token.exec(body);
    if (!match) throw new Error(`not well-formed at ${JSON.stringify(body.slice(end, end + 40))}`);
    const [, closing, name = '', attributes = '', empty, text] = match;
    if (text !== undefined) {
      if (current) current.text += decode(text);
    } else if (closing) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`);
      current = undefined;
    } else {
      const values = [...attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [key, decode(value!)]);
      const element = { name, attributes: Object.fromEntries(values), text: '' };
      elements.push(element);
      current = empty ? undefined : element;
      if (!empty) open.push(name);
    }
  }
  if (open.length > 0) throw new Error(`${open} not closed`);
  return elements;
}

function decode(text: string): string {
  if (/&(?!(amp|lt|gt|quot|#\d+);)/.test(text)) throw new Error(`a bare & in ${text}`);
  return text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

const suite = (message: string) =>
  junitXml({
    name: 'flow',
    startedAt: 0,
    seconds: 1.5,
    properties: { runId: 'r' },
    cases: [
      { name: 'a', seconds: 0.5, outcome: { type: 'passed' }, remark: message },
      { name: message, seconds: 0, outcome: { type: 'skipped', why: message } },
      {
        name: 'c',
        seconds: 1,
        file: 'f.yaml',
        line: 3,
        outcome: { type: 'failed', code: 'exit', message, detail: message },
      },
    ],
  });

describe('a test report', () => {
  it('counts, and says where each case is', () => {
    const elements = readXml(suite('why'));
    expect(elements.find(({ name }) => name === 'testsuite')?.attributes).toMatchObject({
      tests: '3',
      failures: '1',
      skipped: '1',
      time: '1.500',
      timestamp: '1970-01-01T00:00:00',
    });
    const cases = elements.filter(({ name }) => name === 'testcase');
    expect(cases[2]?.attributes).toMatchObject({ classname: 'flow', name: 'c', file: 'f.yaml', line: '3' });
    expect(elements.find(({ name }) => name === 'failure')).toMatchObject({
      attributes: { type: 'exit' },
      text: 'why',
    });
  });

  it('is well-formed whatever a program said, and says it as it was', () => {
    const said = 'a "quoted" <tag> & ]]> \n\t\r\0\x1b[31m \ud800 ok';
    const failure = readXml(suite(said)).find(({ name }) => name === 'failure');
    expect(failure?.attributes['message']).toBe('a "quoted" <tag> & ]]> \n\t\r[31m \ufffd ok');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const elements = readXml(suite(text));
        expect(elements.filter(({ name }) => name === 'testcase')).toHaveLength(3);
      }),
      { numRuns: 100 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonValue } from '../../src/model/json.js';
import { decodeText } from '../../src/parse/decode.js';
import { locate, type Path } from '../../src/parse/locate.js';
import { parseText } from '../../src/parse/parse.js';
import { Source } from '../../src/parse/source.js';

async function placeOf(file: string, text: string, path: Path, part?: string): Promise<string> {
  const parsed = await parseText(file, text);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  const value = path.reduce<JsonValue>((at, step) => (at as Record<string, JsonValue>)[step]!, parsed.value);
  const span = part === undefined ? {} : { span: { offset: String(value).indexOf(part), length: part.length } };
  const { offset, length } = locate(text, await parsed.tree(), { path, target: 'value', ...span });
  return text.slice(offset, offset + length);
}

describe('a part of a text has its exact place', () => {
  const mark = '{steps.scan.output}';
  it.each([
    ['plain', `a: x ${mark} y`],
    ['plain over lines', `a: x\n  and ${mark}\n  y`],
    ['double quotes', `a: "x \\" \\u00e9 \\x41 \\U0001F600 ${mark} y"`],
    ['double quotes over lines', `a: "x\n  more \\\n  joined ${mark} y"`],
    ['single quotes', `a: 'it''s ''${mark}'' y'`],
    ['single quotes over lines', `a: 'one\n\n  two ${mark}'`],
    ['literal block', `a: |\n    first\n\n      deeper ${mark}\n    last`],
    ['literal block with indentation of its own', `a: |2\n    first\n    ${mark}\n`],
    ['stripped literal block', `a: |-\n  ${mark}`],
    ['folded block', `a: >\n  one\n  two\n\n  three ${mark}\n  four`],
    ['folded block with deeper lines', `a: >\n  one\n    code ${mark}\n  two`],
    ['after a comment', `a: | # note\n  x ${mark}`],
    ['windows line ends', `a: |\r\n  x\r\n  y ${mark}\r\n`],
    ['unicode', `a: "日本 😀 ${mark}"`],
  ])('YAML, %s', async (_, text) => {
    expect(await placeOf('a.yaml', text, ['a'], mark)).toBe(mark);
  });

  it.each([
    ['plain', `{"a": "x ${mark}"}`],
    ['escapes', `{"a": "\\"\\\\\\/\\n\\t\\u00e9\\ud83d\\ude00 ${mark} y"}`],
    ['comments', `{ // c\n "a": /* d */ "x ${mark}", }`],
  ])('JSON, %s', async (_, text) => {
    expect(await placeOf('a.json', text, ['a'], mark)).toBe(mark);
  });

  it('holds for any text in any style that YAML writes', async () => {
    const pieces = ['word', ' ', '\n', '"', "'", 'é', '😀', '\t', ': ', '# ', '\\', '- '];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 14 });
    const style = fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED');
    await fc.assert(
      fc.asyncProperty(text, text, style, fc.constantFrom(20, 80, 0), async (before, after, type, lineWidth) => {
        const value = `${before.join('')}${mark}${after.join('')}`;
        const source = stringify({ a: { b: value } }, { defaultStringType: type as 'PLAIN', lineWidth });
        // A line may be broken inside the mark; the place then covers both halves.
        const found = await placeOf('a.yaml', source, ['a', 'b'], mark);
        expect(found.replaceAll(/\\\n\s*/g, '')).toBe(mark);
        expect(await placeOf('a.json', JSON.stringify({ a: { b: value } }), ['a', 'b'], mark)).toBe(mark);
      }),
      { numRuns: 500, interruptAfterTimeLimit: 10_000 },
    );
  });
});

describe('both notations', () => {
  it('give the same value, with a place for every key and value', async () => {
    const name = fc.stringMatching(/^[a-z]{1,6}$/);
    const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'json' },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(name, tie('json'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, json, { noNullPrototype: true }), async (value) => {
        const yaml = await parseText('a.yaml', stringify(value));
        const plain = await parseText('a.json', JSON.stringify(value, null, 2));
        const loose = await parseText('a.json', `// note\n${JSON.stringify(value)}`);
        if ('problems' in yaml || 'problems' in plain || 'problems' in loose) throw new Error('did not parse');
        expect(yaml.value).toEqual(value);
        expect(plain.value).toEqual(value);
        expect(loose.value).toEqual(value);
        await plain.tree();
      }),
      { interruptAfterTimeLimit: 10_000 },
    );
  });

  it('merge keys share settings, and what is written itself comes first', async () => {
    const parsed = await parseText('a.yaml', 'base: &b { x: 1, y: 2 }\na: { <<: *b, y: 3 }\nc: { <<: [*b, { z: 4 }] }');
    expect('value' in parsed && parsed.value).toMatchObject({ a: { x: 1, y: 3 }, c: { x: 1, y: 2, z: 4 } });
  });

  it('a name that looks like a number or a truth value is a name', async () => {
    const parsed = await parseText('a.yaml', '1: a\ntrue: b\non: c\nnull: d');
    expect('value' in parsed && parsed.value).toEqual({ '1': 'a', true: 'b', on: 'c', null: 'd' });
  });
});

describe('lines and columns', () => {
  it('count from one, in UTF-16 units, whatever ends the lines', () => {
    const source = new Source('a', 'ab\r\n😀x\n');
    expect(source.position(0)).toEqual({ line: 1, column: 1 });
    expect(source.position(4)).toEqual({ line: 2, column: 1 });
    expect(source.position(6)).toEqual({ line: 2, column: 3 });
    expect(source.line(1)).toBe('ab');
    expect(source.line(2)).toBe('😀x');
    expect(source.line(9)).toBeUndefined();
  });
});

describe('bytes', () => {
  it('a byte order mark is dropped', () => {
    expect(decodeText(Buffer.from('\ufeffname: x'))).toEqual({ text: 'name: x' });
  });

  it.each([
    ['invalid UTF-8', Buffer.from([0x61, 0x0a, 0xff, 0x62]), 2],
    ['a cut sequence', Buffer.from([0x61, 0xe2, 0x82]), 1],
    ['NUL', Buffer.from('a\0b'), 1],
    ['UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0x00]), 0],
  ])('%s is refused at its place', (_, bytes, offset) => {
    expect(decodeText(bytes).problem).toMatchObject({ code: 'encoding', offset });
  });

  it('a replacement character that was written as such is text', () => {
    expect(decodeText(Buffer.from('a \ufffd b')).problem).toBeUndefined();
  });
});

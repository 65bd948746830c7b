import { describe, expect, it } from 'vitest';
import type { ArgSpec } from '../../src/model/flow.js';
import { bindRows } from '../../src/run/batch/rows/bind-rows.js';
import type { RowFormat } from '../../src/run/batch/rows/raw-row.js';
import { readRows } from '../../src/run/batch/rows/read-rows.js';
import { formatOfName, sniffFormat } from '../../src/run/batch/rows/row-format.js';

const read = (text: string | Buffer, format: RowFormat) =>
  readRows(Buffer.isBuffer(text) ? text : Buffer.from(text), format, { as: 'topic' });

describe('rows of a file', () => {
  it('takes one topic per line of a text, without blank lines and comments, and knows the line of each', async () => {
    const { rows } = await read('\ufeff# heading\n\nsea level\r\n  tides  \n#metoo\n#\n', 'txt');
    expect(rows).toEqual([
      { line: 3, values: { topic: 'sea level' } },
      { line: 4, values: { topic: 'tides' } },
      { line: 5, values: { topic: '#metoo' } },
    ]);
  });

  it('reads a table with quotes, commas and line breaks in cells; an empty cell is no value', async () => {
    const text = 'topic,depth\n"a, b",1\n\n"two\nlines",\nlast,3\n';
    const { rows, problems } = await read(text, 'csv');
    expect(problems).toEqual([]);
    expect(rows).toEqual([
      { line: 2, values: { topic: 'a, b', depth: '1' } },
      { line: 4, values: { topic: 'two\nlines' } },
      { line: 6, values: { topic: 'last', depth: '3' } },
    ]);
  });

  it('reads what spreadsheets write where the comma is for numbers, and lines that end as they once did', async () => {
    const { rows, problems } = await read('topic;depth\r\n"a; b";1,5\r\nc;\r\n', 'csv');
    expect(problems).toEqual([]);
    expect(rows.map(({ values }) => values)).toEqual([{ topic: 'a; b', depth: '1,5' }, { topic: 'c' }]);
    expect((await read('topic\tdepth\nx\t1\n', 'csv')).rows[0]?.values).toEqual({ topic: 'x', depth: '1' });
    expect((await read('topic\na;b\n', 'csv')).rows[0]?.values).toEqual({ topic: 'a;b' });
    expect((await read('a\rb\r', 'txt')).rows.map(({ line, values }) => [line, values['topic']])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
  });

  it('reports a row with too many cells, doubled and nameless columns, and a quote that never ends', async () => {
    expect((await read('a,b\n1,2,3\n4,5,6\n', 'csv')).problems.map(({ line }) => line)).toEqual([2, 3]);
    expect((await read('a,a\n1,2\n', 'csv')).problems[0]?.message).toContain('two columns are called "a"');
    expect((await read('a,\n1,2\n', 'csv')).problems[0]?.message).toContain('column 2 has no name');
    expect((await read('a\n"1\n2\n', 'csv')).problems[0]?.message).toContain('no CSV');
  });

  it('reads tabs, JSON lines, JSON and YAML lists of objects and of bare values', async () => {
    expect((await read('topic\tn\nx\t1\n', 'tsv')).rows[0]?.values).toEqual({ topic: 'x', n: '1' });
    const lines = await read('{"topic":"a"}\n\n"b"\n', 'jsonl');
    expect(lines.rows).toEqual([
      { line: 1, values: { topic: 'a' } },
      { line: 3, values: { topic: 'b' } },
    ]);
    const list = await read('[\n  {"topic": "a"},\n  "b", // why not\n]\n', 'json');
    expect(list.rows.map(({ line }) => line)).toEqual([2, 3]);
    const yaml = await read('rows:\n  - topic: a\n    n: 1\n  - b\n', 'yaml');
    expect(yaml.rows).toEqual([
      { line: 2, values: { topic: 'a', n: 1 } },
      { line: 4, values: { topic: 'b' } },
    ]);
  });

  it('reports every bad line with its number', async () => {
    const { rows, problems } = await read('{"topic":"a"}\n{oops\n[1]\nnull\n{"__proto__": 1}\n', 'jsonl');
    expect(rows).toHaveLength(1);
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
  });

  it('refuses what is no text instead of making something of it', async () => {
    expect((await read(Buffer.from([0x61, 0xff, 0x62]), 'txt')).problems[0]?.message).toContain('UTF-8');
    expect((await read('a\nb\0c\n', 'txt')).problems).toEqual([{ line: 2, message: expect.stringContaining('NUL') }]);
    expect((await read('{"topic": "x"}', 'json')).problems[0]?.message).toContain('no list');
    expect((await read('[1,', 'json')).problems).toHaveLength(1);
  });

  it('tells formats apart by name, and standard input by what it says', () => {
    expect(['a.txt', 'b.CSV', 'c.ndjson', 'd.yml', 'e.json', 'f'].map(formatOfName)).toEqual([
      'txt',
      'csv',
      'jsonl',
      'yaml',
      'json',
      undefined,
    ]);
    const sniffed = (text: string) => sniffFormat(text, ['topic', 'depth']);
    expect(sniffed('topic,depth\na,1\n')).toBe('csv');
    expect(sniffed('salt, sand and sea\nother\n')).toBe('txt');
    expect(sniffed('[\n{}]')).toBe('json');
    expect(sniffed('{"topic":"a"}\n{"topic":"b"}\n')).toBe('jsonl');
    expect(sniffed('{"rows":\n[]}')).toBe('json');
    expect(sniffed('- topic: a\n')).toBe('yaml');
  });
});

const TEXT: ArgSpec = { type: 'string', required: true, secret: false };
const NUMBER: ArgSpec = { type: 'number', required: false, secret: false, default: 2, maximum: 5 };

describe('rows and the arguments of a flow', () => {
  const bind = (values: readonly Record<string, string | number>[], specs: Record<string, ArgSpec>) =>
    bindRows(
      values.map((row, index) => ({ line: index + 1, values: row })),
      { specs, project: { root: '/' }, format: 'csv', as: 'topic' },
    );

  it('reports all problems of all rows', async () => {
    const bound = await bind([{ topic: 'a', depth: 'x' }, { depth: 9 }, { topic: 'b' }], {
      topic: TEXT,
      depth: NUMBER,
    });
    expect('problems' in bound && bound.problems.map(({ line }) => line)).toEqual([1, 2, 2]);
  });

  it('names a row by what it is: a row put in before it does not move it, equal rows differ', async () => {
    const specs = { topic: TEXT };
    const before = await bind([{ topic: 'a' }, { topic: 'b' }, { topic: 'b' }], specs);
    const after = await bind([{ topic: 'new' }, { topic: 'a' }, { topic: 'b' }, { topic: 'b' }], specs);
    if ('problems' in before || 'problems' in after) throw new Error('rows should bind');
    const places = before.rows.map(({ place }) => place);
    expect(new Set(places).size).toBe(3);
    expect(places[2]).toBe(`${places[1]}-2`);
    expect(after.rows.slice(1).map(({ place }) => place)).toEqual(places);
  });

  it('warns about columns that the flow does not know, with the name that was meant', async () => {
    const bound = await bind([{ topic: 'a', dept: 1 }], { topic: TEXT, depth: NUMBER });
    expect('warnings' in bound && bound.warnings).toEqual([
      'the flow has no argument "dept" (did you mean "depth"?): ignored in every row',
    ]);
    expect('rows' in bound && bound.rows[0]?.args).toEqual({ topic: 'a', depth: 2 });
  });

  it('keeps a secret argument out of names, labels and what may be written', async () => {
    const specs = { token: { ...TEXT, secret: true }, topic: TEXT };
    const one = await bind([{ token: 'abc-one', topic: 't' }], specs);
    const two = await bind([{ token: 'abc-two', topic: 't' }], specs);
    if ('problems' in one || 'problems' in two) throw new Error('rows should bind');
    expect(one.rows[0]?.place).toBe(two.rows[0]?.place);
    expect(one.rows[0]?.publicArgs).toEqual({ token: '(secret)', topic: 't' });
    const unnamed = await bind([{ token: 'abc' }], { token: { ...TEXT, secret: true } });
    expect('rows' in unnamed && unnamed.rows[0]?.label).toBe('row 1');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { followPath, type Lookup, parseTemplate, renderTemplate, templateRefs } from '../../src/plan/template.js';

const values: Record<string, unknown> = {
  'args.topic': 'cats',
  'args.deep.er': 7,
  'steps.scan.output': 'one\ntwo',
  'steps.scan.json': { files: ['a', 'b'] },
  'steps.scan.json.files.0': 'a',
  item: { path: 'x' },
  'item.path': 'x',
  'previous.output': 'before',
  'loop.iteration': 3,
  reflexion: '',
};
const lookup: Lookup = ({ text }) =>
  Object.hasOwn(values, text) ? { found: true, value: values[text] } : { found: false };
const render = (text: string, itemName?: string) => renderTemplate(parseTemplate(text, itemName), lookup);

describe('placeholders', () => {
  it.each([
    ['about {args.topic}', 'about cats'],
    ['{steps.scan.output}!', 'one\ntwo!'],
    ['n={loop.iteration} {args.deep.er}', 'n=3 7'],
    ['<{reflexion}>', '<>'],
    ['files: {steps.scan.json}', 'files: {"files":["a","b"]}'],
    ['{"a": {args.topic}, "b": {}}', '{"a": cats, "b": {}}'],
  ])('%j becomes %j', (text, expected) => {
    expect(render(text).text).toBe(expected);
  });

  it('keeps the type of a value when the text is exactly one placeholder', () => {
    expect(render('{steps.scan.json}').value).toEqual({ files: ['a', 'b'] });
    expect(render('{args.deep.er}').value).toBe(7);
    expect(render(' {args.deep.er}').value).toBe(' 7');
  });

  it('hands on the bytes of a value that is no text only when it is alone', () => {
    const bytes: Lookup = () => ({ found: true, value: '\ufffd', base64: '/w==' });
    expect(renderTemplate(parseTemplate('{steps.a.output}'), bytes).base64).toBe('/w==');
    expect(renderTemplate(parseTemplate('x{steps.a.output}'), bytes).base64).toBeUndefined();
  });

  it('know a name of any length that a map gave its item', () => {
    const name = 'n'.repeat(100);
    expect(templateRefs(parseTemplate(`{${name}.path} {${name}}`, name)).map(({ root }) => root)).toEqual([
      'item',
      'item',
    ]);
  });

  it('leaves braces alone that start no placeholder', () => {
    for (const text of [
      '{',
      '}',
      '{}',
      '{{}}',
      '{ a: 1 }',
      '${HOME}',
      '{item+1}',
      '{item|upper}',
      '\\{item\\}',
      '{reflexion!}',
      '{previous/output}',
      '{stepsy.a.output}',
      '{itemize}',
      'function() {args}',
    ]) {
      expect(render(text).text).toBe(text);
      expect(templateRefs(parseTemplate(text))).toEqual([]);
    }
  });

  it('writes a placeholder in double braces as the text of the placeholder, and touches no other braces', () => {
    expect(render('{{steps.scan.output}}').text).toBe('{steps.scan.output}');
    expect(render('{{{args.topic}}}').text).toBe('{{args.topic}}');
    expect(render('{{args.topic}').text).toBe('{cats');
    expect(render('{{whatever}}').text).toBe('{{whatever}}');
  });

  it('knows the map variable by its own name too', () => {
    expect(templateRefs(parseTemplate('{file.path} {item.path}', 'file')).map(({ root }) => root)).toEqual([
      'item',
      'item',
    ]);
    expect(templateRefs(parseTemplate('{file.path}'))).toEqual([]);
    expect(templateRefs(parseTemplate('{files.path}', 'file'))).toEqual([]);
  });

  it('names what has no value and leaves it as it is', () => {
    const { text, unresolved } = render('{args.nope} {args.topic}');
    expect(text).toBe('{args.nope} cats');
    expect(unresolved).toEqual(['args.nope']);
  });

  it('gives every placeholder its place', () => {
    const text = 'x {args.a} {{args.b}} {steps.c.json.d}';
    for (const { offset, length, text: inner } of templateRefs(parseTemplate(text))) {
      expect(text.slice(offset, offset + length)).toBe(`{${inner}}`);
    }
  });

  it('suspects what was surely meant as a placeholder', () => {
    const suspects = (text: string) => parseTemplate(text).suspects.map(({ certain }) => certain);
    expect(suspects('{steps.scan}')).toEqual([true]);
    expect(suspects('{steps.scan.outputs}')).toEqual([true]);
    expect(suspects('{args.__proto__.x}')).toEqual([true]);
    expect(suspects('{steps.scan.json[0]}')).toEqual([false]);
    for (const near of ['{item|upper}', '{item+1}']) expect(suspects(near)).toEqual([false]);
    expect(suspects('{previous}')).toEqual([false]);
    expect(suspects('{"steps.scan": 1}')).toEqual([]);
  });
});

describe('paths', () => {
  it('follow own properties and list positions only', () => {
    expect(followPath({ a: [{ b: 1 }] }, ['a', '0', 'b'])).toEqual({ found: true, value: 1 });
    expect(followPath([1, 2], ['length'])).toEqual({ found: true, value: 2 });
    for (const path of [['toString'], ['__proto__'], ['constructor', 'name'], ['a', 'b']]) {
      expect(followPath({ a: 'text' }, path)).toEqual({ found: false });
    }
  });
});

describe('laws of templates', () => {
  const piece = fc.oneof(
    fc.string({ unit: fc.constantFrom('{', '}', '.', 'a', ' ', '"', '[', ']', 'é', '\n') }),
    fc.constantFrom(
      '{args.topic}',
      '{{args.topic}}',
      '{steps.scan.output}',
      '{steps.',
      '{item}',
      '{steps.x}',
      '{loop.iteration}',
    ),
    fc.string(),
  );
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('nothing is lost: text and placeholders make up the whole, escapes aside', () => {
    fc.assert(
      fc.property(text, (source) => {
        const { segments } = parseTemplate(source);
        const joined = segments.map((part) => (part.type === 'text' ? part.text : `{${part.ref.text}}`)).join('');
        expect(joined.length).toBeLessThanOrEqual(source.length);
        if (!source.includes('{{')) expect(joined).toBe(source);
      }),
    );
  });

  it('a value is never read again as a template', () => {
    fc.assert(
      fc.property(text, fc.string(), (source, value) => {
        const always: Lookup = () => ({ found: true, value });
        const parsed = parseTemplate(source);
        const expected = parsed.segments.map((part) => (part.type === 'text' ? part.text : value)).join('');
        expect(renderTemplate(parsed, always).text).toBe(expected);
      }),
    );
  });

  it('escaping a placeholder gives its text back', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/), (id) => {
        expect(render(`{{steps.${id}.output}}`).text).toBe(`{steps.${id}.output}`);
      }),
    );
  });

  it('takes time in proportion to its length', () => {
    const source = '{steps.'.repeat(100_000);
    const start = performance.now();
    parseTemplate(source);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

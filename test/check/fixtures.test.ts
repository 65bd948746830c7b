import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkFlowText } from '../../src/check/check-flow.js';
import { CODES, type Code } from '../../src/check/codes.js';
import { diskWorld } from '../../src/check/world.js';
import { renderDiagnostic } from '../../src/parse/frame.js';

const root = fileURLToPath(new URL('../fixtures/check', import.meta.url));
const files = readdirSync(root).filter((file) => /\.(yaml|json)$/.test(file));

async function check(file: string): Promise<{ text: string; codes: readonly string[] }> {
  const text = readFileSync(`${root}/${file}`);
  // What files there are beside the fixtures is nobody's business but this one's.
  const lookForFiles = file === 'unmatched.yaml';
  const world = diskWorld({ root, home: `${root}/no-home`, env: {} }, undefined, { lookForFiles });
  const { diagnostics, source } = await checkFlowText({ file, text, world });
  return {
    text: `${diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, source)).join('\n')}\n`,
    codes: diagnostics.map(({ code }) => code),
  };
}

/** A flow file and, beside it, exactly what a person is told about it. UPDATE_FIXTURES=1 writes what is said now. */
describe('every problem is reported with its place, in YAML and in JSON', () => {
  it.each(files)('%s', async (file) => {
    const { text } = await check(file);
    const expected = `${root}/${file}.txt`;
    if (process.env['UPDATE_FIXTURES'] && !existsSync(expected)) writeFileSync(expected, text);
    expect(text).toBe(readFileSync(expected, 'utf8'));
  });

  it('says the same of a flow in both notations', async () => {
    const pairs = files.filter((file) => file.endsWith('.json') && files.includes(file.replace('.json', '.yaml')));
    const different = ['forbidden-names.json', 'duplicate-keys.json'];
    for (const file of pairs.filter((name) => !different.includes(name))) {
      const json = await check(file);
      const yaml = await check(file.replace('.json', '.yaml'));
      expect(json.codes.toSorted(), file).toEqual(yaml.codes.toSorted());
    }
  });
});

describe('the fixtures', () => {
  it('show every code that the checker can report', async () => {
    const shown = new Set<string>();
    for (const file of files) for (const code of (await check(file)).codes) shown.add(code);
    const elsewhere: readonly Code[] = [
      'alias',
      'too-deep',
      'too-large',
      'encoding',
      'bad-number',
      'generated-flow',
      'no-flow',
      // Of tests: test/testing/bad-input.test.ts.
      'duplicate-case',
      'unknown-case',
      'case-circle',
      'no-file',
      'bad-pattern',
      'bad-recording',
    ];
    for (const code of Object.keys(CODES) as Code[]) if (!elsewhere.includes(code)) expect(shown, code).toContain(code);
    for (const code of shown) expect(CODES).toHaveProperty(code);
  });
});

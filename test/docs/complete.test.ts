import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withTables } from '../../scripts/language-tables.mjs';
import { COMMANDS } from '../../src/cli/boot/registry.js';
import { EXIT } from '../../src/cli/errors/exit-status.js';
import { RUNNER_SETTINGS, SETTINGS } from '../../src/config/settings.js';
import { FINGERPRINT_PREFIXES } from '../../src/memo/fingerprint/syntax.js';
import { KINDS } from '../../src/model/kind.js';
import { flowJsonSchema } from '../../src/model/schema/published.js';
import { FLOW_FILES } from '../flows/support.js';
import { textOf } from './pages.js';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

describe('the pages name everything', () => {
  it('the tables of the language are those of the schema (else: npm run language)', () => {
    const page = textOf('docs/language.md');
    expect(page).toBe(withTables(page, JSON.parse(JSON.stringify(flowJsonSchema()))));
    for (const kind of KINDS) expect(page).toMatch(new RegExp(`^## ${kind}$`, 'm'));
  });

  it('every command and exit status', () => {
    const page = textOf('docs/commands.md');
    for (const { name } of COMMANDS) expect(page).toMatch(new RegExp(`\`${name}\\b`));
    for (const status of Object.values(EXIT)) expect(page).toContain(`| ${status} |`);
  });

  it('every setting', () => {
    for (const { key } of SETTINGS) expect(textOf('docs/commands.md')).toContain(`\`${key}\``);
    for (const { key } of RUNNER_SETTINGS) expect(textOf('docs/runners.md')).toContain(`\`${key}\``);
  });

  it('every fingerprint', () => {
    for (const prefix of FINGERPRINT_PREFIXES) expect(textOf('docs/reuse.md')).toContain(`\`${prefix}`);
  });

  it('every event', () => {
    for (const [, type] of read('src/model/event.ts').matchAll(/readonly type: '([a-z-]+)'/g)) {
      expect(textOf('docs/events-and-json.md')).toContain(`\`${type}\``);
    }
  });

  it('every flow that comes with the package', () => {
    for (const file of FLOW_FILES) expect(textOf('README.md')).toContain(`(flows/${file})`);
  });

  it('every dependency', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      expect(textOf('docs/dependencies.md')).toContain(`\`${name}\``);
    }
  });

  it('every room, in its order', () => {
    const architecture = read('test/architecture.test.ts');
    const rooms = /run: \[([\s\S]*?)\n {2}\]/
      .exec(architecture)![1]!
      .match(/'\w+'/g)!
      .map((room) => room.slice(1, -1));
    const table = /^\| room[\s\S]*?\n\n/m.exec(textOf('docs/architecture.md'))![0];
    expect([...table.matchAll(/`(\w+)`(?=[^|]*\|[^|]*\|$)/gm)].map(([, room]) => room)).toEqual(rooms);
  });
});

describe('the README', () => {
  it('can promise `npm ci`: the lock file knows every optional package, and no download address', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> };
    const known = new Set(Object.keys(lock.packages));
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !known.has(`node_modules/${name}`) && !known.has(`${path}/node_modules/${name}`),
      ),
    );
    expect(missing).toEqual([]);
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/boot/registry.js';
import { EXIT } from '../../src/cli/errors/exit-status.js';
import { FINGERPRINT_PREFIXES } from '../../src/memo/fingerprint/syntax.js';
import { KINDS } from '../../src/model/kind.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { createRepository, FLOW_FILES, localModel, type Repository, ran, resultOf } from './support.js';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const README = read('README.md');

let server: ModelServer;
let repository: Repository;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
afterEach(() => repository?.remove());

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

describe('the README', () => {
  it('has a first flow that checks clean and does what is said about it', async () => {
    const flow = /```yaml\n(# review\.yaml[\s\S]*?)```/.exec(README)![1]!;
    repository = createRepository('ci-audit.yaml', {
      'review.yaml': flow,
      'a.js': 'a();\n',
      '.pi/taskflows/config.yaml': localModel(server.url, 'm'),
    });
    repository.write('a.js', 'a(1);\n');
    const check = await repository.run(['check', '--strict', 'review.yaml']);
    expect(check).toMatchObject({ status: 0 });
    server.script = ({ prompt }) => ({ text: prompt.includes('VERDICT') ? 'VERDICT: PASS' : 'Fine.' });
    const first = await repository.run(['run', 'review.yaml', '--json']);
    expect(first.status).toBe(0);
    expect(server.calls).toHaveLength(3);
    const second = await repository.run(['run', 'review.yaml', '--json']);
    expect(ran(resultOf(second.stdout))).toEqual(['files', 'good-enough']);
    expect(server.calls).toHaveLength(4);
  });

  it('names every command, kind, fingerprint, exit status, event and flow', () => {
    for (const { name } of COMMANDS) for (const word of name.split(' ')) expect(README).toContain(word);
    for (const kind of KINDS) expect(README).toContain(`\`${kind}\``);
    for (const prefix of FINGERPRINT_PREFIXES) if (prefix !== 'glob!:') expect(README).toContain(`\`${prefix}`);
    for (const [name, status] of Object.entries(EXIT))
      if (name !== 'internal') expect(README).toContain(`| ${status} |`);
    for (const [, type] of read('src/model/event.ts').matchAll(/readonly type: '([a-z-]+)'/g)) {
      expect(README).toContain(`\`${type}\``);
    }
    for (const file of FLOW_FILES) expect(README).toContain(`(flows/${file})`);
  });

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

  it('leads nowhere that is not there', () => {
    for (const [, target] of README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) expect(() => read(target!)).not.toThrow();
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, name] of README.matchAll(/npm (?:run )?(start|test|bench)\b/g)) expect(scripts).toHaveProperty(name!);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { INSTALLED } from '../support/cli.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TEXT = readFileSync(join(INSTALLED, 'node_modules/taskflow-cli/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const NAMED = [...TEXT.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \([\w.-]+\)$/gm)].map(([, name]) => name!);

/** Everything that a package brings along, from the lock file. */
function broughtBy(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const found = packages[`node_modules/${name}`] ?? {};
  const needed = { ...found.dependencies, ...found.peerDependencies };
  for (const other of Object.keys(needed)) if (packages[`node_modules/${other}`]) broughtBy(other, known);
  return known;
}

/** They are bundled, although whoever installs the package does not install them. */
const BUNDLED = ['@modelcontextprotocol/server', '@preact/signals', 'chokidar', 'preact', 'zod'];

it('every package whose code is bundled is named with its licence', () => {
  const brought = [...Object.keys(dependencies), ...BUNDLED].flatMap((name) => [...broughtBy(name)]);
  expect(NAMED.sort()).toEqual([...new Set(brought)].sort());
});

it.each([
  ['@modelcontextprotocol/server', 'LICENSE'],
  ['preact', 'LICENSE'],
  ['yaml', 'LICENSE'],
])('the licence of %s is there, word for word', (name, file) => {
  expect(TEXT).toContain(readFileSync(join(ROOT, 'node_modules', name, file), 'utf8').trim());
});

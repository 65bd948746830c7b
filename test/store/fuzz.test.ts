import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recomputeKey } from '../../src/memo/identity.js';
import { clearEntries } from '../../src/store/clear-entries.js';
import { collectGarbage } from '../../src/store/collect-garbage.js';
import { exportArchive } from '../../src/store/export-archive.js';
import { importArchive } from '../../src/store/import-archive.js';
import type { StoreOptions } from '../../src/store/options.js';
import { showEntry } from '../../src/store/show-entry.js';
import { storeStatus } from '../../src/store/store-status.js';
import { verifyStore } from '../../src/store/verify-store.js';
import { sha256Hex } from '../../src/util/digest.js';
import { LIMITS } from '../contracts/store-support.js';
import { forgeFile } from '../support/forge-entry.js';
import { listEntries } from '../support/list-entries.js';
import { type Random, randomFrom } from '../support/random.js';
import { createRig, type Rig } from '../support/rig.js';

const STEPS = Number(process.env['TASKFLOW_STEPS'] ?? 100);
const SEED = Number(process.env['TASKFLOW_SEED'] ?? 20_261);

let rig: Rig;
let cache: string;
let good: string;
let archive: string;
let options: StoreOptions;
beforeEach(() => {
  rig = createRig({}, 'auto');
  cache = join(rig.root, '.pi/taskflows/cache');
  good = join(rig.root, '../good-cache');
  archive = join(rig.root, '../good.tfc');
  options = { dir: cache, project: rig.project, limits: LIMITS };
});
afterEach(() => rig.remove());

const flow = {
  name: 'f',
  phases: [
    {
      id: 'build',
      type: 'script',
      run: 'bin/tick build built; mkdir -p dist/v1; echo made > dist/v1/app.js; ln -sfn v1 dist/latest',
      outputs: ['dist/**'],
      cache: { scope: 'cross-run', fingerprint: ['file:input.txt'] },
    },
    {
      id: 'sum',
      type: 'script',
      run: ['bin/tick', 'sum', 'of {steps.build.output}'],
      cache: { scope: 'cross-run', fingerprint: [] },
    },
  ],
};

const HOSTILE_PATHS = [
  '.git/hooks/pre-commit',
  '.pi/taskflows/config.yaml',
  '.pi/taskflows/checked/x.json',
  '.github/workflows/x.yml',
  '.envrc',
  'package.json',
  'bin/tick',
  'flow.json',
  '../outside.txt',
  '/tmp/taskflow-fuzz-outside.txt',
  'dist/../bin/tick',
  'dist/latest/../../../x',
  'dist\\..\\x',
  'dist/\0',
  'dist/.git/config',
  'dist/.GIT/hooks/pre-commit',
  'dist/sub/.git',
  'dist/.pi/agents/x.md',
  'dist/v1/.Pi/x',
  'DIST/x',
  '',
  '.',
  'x'.repeat(5_000),
];
const LINK_TARGETS = ['..', '../..', '/etc', '../.git/hooks', '../bin', '../.pi/taskflows', '../../x', '.', ''];
const ODD_VALUES: unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'x',
  '../x',
  {},
  [],
  [[]],
  { a: 1 },
  2 ** 53,
  '\u0000',
  'é'.repeat(99),
];

/** Some value somewhere inside is another one, or missing. */
function mutateValue(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.25)) return random.pick(ODD_VALUES);
  const names = Object.keys(value);
  if (names.length === 0) return random.pick(ODD_VALUES);
  const name = random.pick(names);
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  if (random.chance(0.15)) delete copy[name];
  else copy[name] = mutateValue(copy[name], random);
  return copy;
}

type Entry = Record<string, unknown> & { files: unknown[] };

/** Something else in an entry, as somebody would do it who knows the format: the checksum is right. */
function mutateEntry(text: string, random: Random, dir: string): string {
  const { checksum: _checksum, ...parsed } = JSON.parse(text) as Entry & { checksum: string };
  let entry = parsed as unknown as Entry;
  const kind = random.below(4);
  if (kind === 0) entry = mutateValue(entry, random) as Entry;
  if (kind === 1) entry = { ...entry, files: [...entry.files, hostileFile(random, dir)] };
  if (kind === 2) entry = { ...entry, files: [hostileFile(random, dir), hostileFile(random, dir)] };
  if (kind === 3) entry = { ...entry, files: mutateValue(entry.files, random) as unknown[] };
  const body = JSON.stringify(entry) ?? 'null';
  const head = body.slice(0, -1);
  return `${head},"checksum":"${sha256Hex(head)}"}`;
}

function hostileFile(random: Random, dir: string): object {
  const path = random.chance(0.7)
    ? random.pick(HOSTILE_PATHS)
    : `dist/${random.pick(['l', 'l/x', 'latest', 'latest/y'])}`;
  const link = random.chance(0.3);
  return forgeFile(
    dir,
    path,
    link ? random.pick(LINK_TARGETS) : 'evil',
    link ? 0o120777 : random.pick([0o755, 0o6777, -1]),
  );
}

function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  switch (random.below(4)) {
    case 0:
      copy[at] = copy[at]! ^ (1 << random.below(8));
      return copy;
    case 1:
      return copy.subarray(0, at);
    case 2:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(random.below(copy.length))]);
    default:
      return Buffer.concat([copy, Buffer.from('more')]);
  }
}

/** A change of an archive: of its bytes, or of its entries with all sums made right. */
function mutateArchive(bytes: Buffer, random: Random): Buffer {
  if (random.chance(0.2)) return mutateBytes(bytes, random);
  const text = gunzipSync(bytes);
  if (random.chance(0.2)) return gzipSync(mutateBytes(text, random));
  const records: Buffer[] = [];
  const staged = join(rig.root, '../forged');
  rmSync(staged, { recursive: true, force: true });
  let at = text.indexOf(10) + 1;
  const magic = text.subarray(0, at);
  const counts = { blob: 0, entry: 0 };
  const add = (type: 'blob' | 'entry', name: string, body: Buffer) => {
    records.push(Buffer.from(`${type} ${name} ${body.length}\n`), body, Buffer.from('\n'));
    counts[type] += 1;
  };
  const entries: [string, Buffer][] = [];
  for (;;) {
    const end = text.indexOf(10, at);
    const [type, name = '', size] = text.toString('latin1', at, end).split(' ');
    if (type === 'end') break;
    const body = text.subarray(end + 1, end + 1 + Number(size));
    if (type === 'blob') add('blob', name, body);
    else entries.push([name, body]);
    at = end + 1 + Number(size) + 1;
  }
  const chosen = random.pick(entries);
  chosen[1] = Buffer.from(mutateEntry(chosen[1].toString(), random, staged));
  if (existsSync(join(staged, 'blobs'))) {
    for (const path of filesUnder(join(staged, 'blobs'))) add('blob', path.slice(-64), readFileSync(path));
  }
  for (const [name, body] of entries) add('entry', name, body);
  const all = Buffer.concat([magic, ...records]);
  return gzipSync(Buffer.concat([all, Buffer.from(`end ${counts.entry} ${counts.blob} ${sha256Hex(all)}\n`)]));
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/** Everything around the project and in it, but for what the flow declares and what runs leave by themselves. */
function surroundings(): string {
  const base = join(rig.root, '..');
  const ours = [cache, good, join(rig.root, 'dist'), join(rig.root, '.pi/taskflows/runs'), join(base, 'forged')];
  const left = [archive, join(base, 'changed.tfc'), join(base, 'log'), join(base, 'home')];
  const seen: string[] = [];
  const visit = (folder: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      if (ours.includes(path) || left.includes(path) || /\.pi\/taskflows\/(?:checked|unchanged)/.test(path)) continue;
      const stat = lstatSync(path);
      if (stat.isDirectory()) visit(path);
      else if (stat.isSymbolicLink()) seen.push(`${path} -> ${readlinkSync(path)}`);
      else seen.push(`${path} ${stat.mode.toString(8)} ${sha256Hex(readFileSync(path))}`);
    }
  };
  visit(base);
  return seen.join('\n');
}

/** A change of something in the cache folder. */
function mutateFolder(random: Random): string {
  const files = filesUnder(cache).filter((path) => !path.endsWith('.gitignore'));
  const entries = files.filter((path) => /\/[0-9a-f]{64}\.json$/.test(path));
  if (random.chance(0.6)) {
    const path = random.pick(entries);
    writeFileSync(path, mutateEntry(readFileSync(path, 'utf8'), random, cache));
    return path;
  }
  const path = random.pick(files);
  const bytes = readFileSync(path);
  if (path.endsWith('index.json') && random.chance(0.7)) {
    writeFileSync(path, JSON.stringify(mutateValue(JSON.parse(bytes.toString()), random)) ?? '');
  } else if (bytes.length > 0) writeFileSync(path, mutateBytes(bytes, random));
  return path;
}

async function lookAround(): Promise<void> {
  const rows = await listEntries(options);
  await storeStatus(options);
  for (const { key } of rows) showEntry(options, key);
}

test(
  `${STEPS} changed archives and cache folders (seed ${SEED}): nothing but declared outputs is ever written`,
  async () => {
    rig.write('input.txt', 'input');
    rig.write('package.json', '{}');
    const first = await rig.run(flow);
    expect(first.status).toBe('success');
    expect(await exportArchive(options, archive)).toMatchObject({ entries: 2, skipped: 0 });
    cpSync(cache, good, { recursive: true });
    const bytes = readFileSync(archive);
    const before = surroundings();
    const random = randomFrom(SEED);
    const seen = { refused: 0, imported: 0, executed: 0, reused: 0 };
    for (let step = 0; step < STEPS; step++) {
      rmSync(cache, { recursive: true, force: true });
      rmSync(join(rig.root, 'dist'), { recursive: true, force: true });
      rmSync(join(rig.root, '.pi/taskflows/runs'), { recursive: true, force: true });
      rig.forget();
      let what = 'archive';
      if (random.chance(0.5)) {
        writeFileSync(join(dirname(archive), 'changed.tfc'), mutateArchive(bytes, random));
        const result = await importArchive({ ...options, recomputeKey }, join(dirname(archive), 'changed.tfc'));
        if ('refused' in result) seen.refused += 1;
        else seen.imported += 1;
      } else {
        cpSync(good, cache, { recursive: true });
        what = mutateFolder(random);
      }
      const where = `step ${step}: ${what}`;
      await lookAround();
      const result = await rig.run(flow);
      expect(result.error?.code, `${where}: ${JSON.stringify(result.error)}`).not.toBe('internal');
      expect(
        Object.keys(rig.counts()).every((name) => name === 'build' || name === 'sum'),
        where,
      ).toBe(true);
      if (rig.executions().length === 0) seen.reused += 1;
      else seen.executed += 1;
      const maintain = random.below(8);
      if (maintain === 0) await verifyStore({ ...options, recomputeKey });
      if (maintain === 1) await collectGarbage(options);
      if (maintain === 2) await clearEntries(options, { flow: 'f' });
      if (maintain === 3) await exportArchive(options, join(dirname(archive), 'changed.tfc'));
      expect(surroundings(), where).toBe(before);
      if (existsSync(join(rig.root, 'dist'))) {
        for (const path of filesUnder(join(rig.root, 'dist')))
          expect(path, where).not.toMatch(/\/dist.*(?:\.git|\.pi|\.tmp)/i);
      }
    }
    // It would prove nothing if all were refused, or all were harmless.
    for (const count of Object.values(seen)) expect(count, JSON.stringify(seen)).toBeGreaterThan(0);
  },
  60_000 + STEPS * 1_000,
);

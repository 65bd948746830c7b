// Where taskflow wants to be, on an ordinary machine with two cores. Judged from what one run measured.
import { ratioText } from './lib/report.mjs';
import { PHASES_SIZES } from './workloads/phases.mjs';
import { entries } from './workloads/store.mjs';

/** @typedef {import('./lib/results.mjs').Results} Results */

/** The largest ratios that are wanted. The guard in CI allows a multiple of the same numbers. */
export const LIMITS = {
  version: 1.2,
  onePhase: 1.6,
  warm: 1.6,
  warmYaml: 2,
  leaf: 3,
  imported: 3,
  cold: 1.5,
  memory: 2,
  put: 1.2,
  hit: 3,
  map: 2,
  glob: 2,
  assembled: 1.3,
  mcpReady: 3,
  mcpCall: 1.5,
  shared: 1.5,
  sharedWarm: 1.05,
  worker: 1.5,
  secondWorker: 1 / 1.8,
  observedAgent: 1.4,
  observedTsc: 1.15,
  observedPaths: 1.5,
  unobserved: 1.02,
};

const LEAF = 'one leaf changed';
const SHAPES = ['chain', 'fan'];
const SLOW_PEERS = ['wireit', 'Nx', 'moon', 'lage'];
const FAST_PEERS = ['make', 'Turborepo', 'LangGraph'];

/** A ratio of two measures that must stay under a limit. */
const ratio = (name, limit, over, under) => ({
  name,
  limit: `${limit} ×`,
  judge: (results) => {
    const [a, b] = [results.median(...over), results.median(...under)];
    if (a === undefined || b === undefined) return undefined;
    return { value: `${ratioText(a / b)} ×`, pass: a / b <= limit };
  },
});

const shapeTargets = (shape) => {
  const id = `${shape}-1000`;
  const warm = [id, 'taskflow', 'warm'];
  const floorWarm = [id, 'floor', 'warm'];
  return [
    ratio(`warm ${shape} of 1,000, JSON : floor`, LIMITS.warm, warm, floorWarm),
    ratio(
      `${shape} of 1,000, one leaf changed : floor`,
      LIMITS.leaf,
      ...['taskflow', 'floor'].map((who) => [id, who, LEAF]),
    ),
    ratio(
      `${shape} of 1,000, fresh clone with an imported cache : floor, warm`,
      LIMITS.imported,
      [id, 'taskflow', 'imported cache'],
      floorWarm,
    ),
    ...FAST_PEERS.map((peer) => ratio(`warm ${shape} of 1,000 : ${peer}`, 1, warm, [id, peer, 'warm'])),
    ...SLOW_PEERS.map((peer) => ratio(`warm ${shape} of 1,000 : ${peer}`, 1 / 20, warm, [id, peer, 'warm'])),
    ratio(`warm ${shape} of 1,000, YAML : floor`, LIMITS.warmYaml, [id, 'taskflow (YAML)', 'warm'], floorWarm),
    ratio(`cold ${shape} of 1,000 : floor`, LIMITS.cold, [id, 'taskflow', 'cold'], [id, 'floor', 'cold']),
    perPhase(shape, id),
    ratio(`peak memory, warm ${shape} of 1,000 : node -e 0`, LIMITS.memory, ...memory(shape, 'warm')),
    ratio(`peak memory, cold ${shape} of 1,000 : node -e 0`, LIMITS.memory, ...memory(shape, 'cold')),
  ];
};

const memory = (shape, column) => [
  ['memory-1000', `taskflow, ${shape}`, column],
  ['memory-1000', 'node -e 0', column],
];

const perPhase = (shape, id) => ({
  name: `cold ${shape} of 1,000: a phase on top of its spawn`,
  limit: '0.7 ms',
  judge: (results) => {
    const [cold, spawn] = [results.median(id, 'taskflow', 'cold'), results.median(id, 'floor: spawn only', 'cold')];
    if (cold === undefined || spawn === undefined) return undefined;
    const each = (cold - spawn) / 1000;
    return { value: `${each.toFixed(2)} ms`, pass: each <= 0.7 };
  },
});

/** A batch of many calls: time and processor time per call, as ratios to a plain loop. */
const callTargets = (topics) => {
  const id = `calls-${topics}`;
  const named = `batch of ${topics.toLocaleString('en-US')} × 6 calls`;
  const variants = [
    ['taskflow, no cache', 1.1, 2],
    ['taskflow, cross-run, --out', 1.2, 3],
    ['taskflow, cross-run, streamed', 1.25, 3.5],
  ];
  return variants.flatMap(([row, wall, cpu]) =>
    [
      ['wall, ms', wall],
      ['CPU per call, µs', cpu],
    ].map(([column, limit]) =>
      ratio(
        `${named}, ${row.replace('taskflow, ', '')}: ${column.split(',')[0]} : floor`,
        limit,
        [id, row, column],
        [id, 'floor', column],
      ),
    ),
  );
};

const callMemory = ratio(
  'peak memory of a batch of 10,000 × 6 calls : of 1,000',
  1.3,
  ['calls-10000', 'taskflow, cross-run, --out', 'peak memory, MB'],
  ['calls-1000', 'taskflow, cross-run, --out', 'peak memory, MB'],
);

/** Each item of a large map costs as much as one of a small map. Processor time: all the work there is. */
const mapGrowth = (what) => ({
  name: `map of 100,000, ${what}: CPU per item : of 1,000`,
  limit: '1.2 ×',
  judge: (results) => {
    const each = (size) => results.median(`maps-${size}`, 'taskflow', `${what}, CPU`) / size;
    const value = each(100_000) / each(1000);
    return Number.isNaN(value) ? undefined : { value: `${ratioText(value)} ×`, pass: value <= 1.2 };
  },
});

const mapTargets = [
  ...['cold', 'warm', 'one more'].map(mapGrowth),
  ...[10_000, 100_000].map((size) =>
    ratio(
      `map of ${size.toLocaleString('en-US')}, warm : reading the entries`,
      2,
      [`maps-${size}`, 'taskflow', 'warm'],
      [`maps-${size}`, 'floor', 'warm'],
    ),
  ),
];

/** Ten times the entries may take ten times as long, and a little more. */
const maintenanceTargets = ['status', 'list', 'gc', 'verify', 'export', 'clear FLOW', 'import'].map((command) =>
  ratio(
    `cache ${command} at 100,000 entries : at 10,000`,
    12,
    ['maintenance', entries(100_000), command],
    ['maintenance', entries(10_000), command],
  ),
);

const MEMORY_LIMIT_MB = 300;
const maintenanceMemory = {
  name: 'the most memory of a command on 100,000 entries',
  limit: `${MEMORY_LIMIT_MB} MB`,
  judge: (results) => {
    const peaks = results.of('maintenance-memory').filter(({ row }) => row === entries(100_000));
    if (peaks.length === 0) return undefined;
    const most = Math.max(...peaks.map(({ row, column }) => results.median('maintenance-memory', row, column)));
    return { value: `${Math.round(most)} MB`, pass: most <= MEMORY_LIMIT_MB };
  },
};

/** Linear: what a phase of the largest flow costs is at most what one of the smallest does. */
const phaseTargets = ['check', 'warm'].flatMap((command) =>
  ['CPU, ms', 'peak memory, MB'].map((measure) => {
    const [small, large] = [PHASES_SIZES[0], PHASES_SIZES.at(-1)];
    const median = (results, size) => results.median(`phases-${size}`, command, measure);
    return {
      name: `${command} of ${large.toLocaleString('en-US')} phases: ${measure.split(',')[0]} per phase : of 1,000`,
      limit: '1 ×',
      judge: (results) => {
        const value = median(results, large) / large / (median(results, small) / small);
        return Number.isNaN(value) ? undefined : { value: `${ratioText(value)} ×`, pass: value <= 1 };
      },
    };
  }),
);

/** The server of both is equally far away, and a shared hit is in the local store afterwards. */
const sharedTargets = [
  ...['one hit', 'look-ups'].map((column) =>
    ratio(
      `a shared cache, ${column} : plain GET`,
      LIMITS.shared,
      ['shared', 'shared store', column],
      ['shared', 'plain GET', column],
    ),
  ),
  ratio(
    'warm run with a shared cache configured : without',
    LIMITS.sharedWarm,
    ['shared-warm', 'configured', 'time'],
    ['shared-warm', 'without', 'time'],
  ),
];

/** The same program, done by a worker and by a bare job of the same queue. */
const workerTargets = [
  ratio(
    'a unit on a worker : bare BullMQ job',
    LIMITS.worker,
    ['workers', 'taskflow', 'one unit'],
    ['workers', 'bare BullMQ job', 'one unit'],
  ),
  ratio(
    'CPU-bound units, 2 workers : 1',
    LIMITS.secondWorker,
    ['workers-cpu', '2 workers', 'time'],
    ['workers-cpu', '1 worker', 'time'],
  ),
];

/** What it costs to see what a phase reads, and to look at it again. */
const observeTargets = [
  ratio(
    '1,000 observed paths that did not change : a stat of each',
    LIMITS.observedPaths,
    ['observed-paths', 'verify', 'time'],
    ['observed-paths', 'stat', 'time'],
  ),
  ratio(
    '1,000 warm phases without observations : observing switched off',
    LIMITS.unobserved,
    ['unobserved', 'observe: auto', 'time'],
    ['unobserved', 'observe: off', 'time'],
  ),
  ...Object.entries({ 'a call of pi': LIMITS.observedAgent, tsc: LIMITS.observedTsc }).map(([what, limit]) => {
    const cpu = (row) => ['observe', row, `${what}, CPU`];
    return ratio(`${what}, observed : not observed, CPU`, limit, cpu('observed'), cpu('not observed'));
  }),
  {
    name: 'a script that reads ten files, observed: wall time more',
    limit: '40 ms',
    judge: (results) => {
      const wall = (row) => results.median('observe', row, 'a script that reads ten files, wall');
      const more = wall('observed') - wall('not observed');
      return Number.isNaN(more) ? undefined : { value: `${more.toFixed(0)} ms`, pass: more <= 40 };
    },
  },
];

const TARGETS = [
  ...observeTargets,
  ...sharedTargets,
  ...workerTargets,
  ratio(
    'taskflow --version : node -e 0',
    LIMITS.version,
    ['startup', 'taskflow --version', 'time'],
    ['startup', 'node -e 0', 'time'],
  ),
  ratio(
    'one-phase warm run : node -e 0',
    LIMITS.onePhase,
    ['startup', 'taskflow run, one phase warm', 'time'],
    ['startup', 'node -e 0', 'time'],
  ),
  ...SHAPES.flatMap(shapeTargets),
  ratio(
    'an assembled flow that exists, run : the same flow in a file',
    LIMITS.assembled,
    ['assemble', 'taskflow assemble --run', 'time'],
    ['assemble', 'taskflow run', 'time'],
  ),
  ratio('MCP server ready : node -e 0', LIMITS.mcpReady, ['mcp', 'taskflow mcp', 'time'], ['mcp', 'node -e 0', 'time']),
  ratio(
    'a tool call that reads a journal : the command in the process',
    LIMITS.mcpCall,
    ['mcp-call', 'run_status', 'time'],
    ['mcp-call', 'runs show, in the process', 'time'],
  ),
  ratio(
    'put at 100,000 entries : at 100',
    LIMITS.put,
    ['store', entries(100_000), 'put'],
    ['store', entries(100), 'put'],
  ),
  ...[100, 100_000].map((size) =>
    ratio(
      `a hit at ${entries(size)} : reading and parsing the file`,
      LIMITS.hit,
      ['store', entries(size), 'get'],
      ['store', entries(size), 'read and parse (floor)'],
    ),
  ),
  ratio(
    'a run with one miss at 100,000 entries : at 1,000',
    1.2,
    ['maintenance', entries(100_000), 'run, one miss'],
    ['maintenance', entries(1_000), 'run, one miss'],
  ),
  ...maintenanceTargets,
  maintenanceMemory,
  ratio(
    'map of 1,000 kept items plus one : reading 1,000 entries',
    LIMITS.map,
    ['map-1000', 'taskflow', 'plus one'],
    ['map-1000', 'floor', 'warm'],
  ),
  ratio(
    'glob: over 20,000 unchanged files : walking and stat-ing them',
    LIMITS.glob,
    ['glob-20000', 'taskflow', 'warm'],
    ['glob-20000', 'floor', 'warm'],
  ),
  ...['unchanged', 'unchanged, CPU'].map((column) =>
    ratio(
      `git:worktree in a repository of 100,000 files : git status${column.replace('unchanged', '')}`,
      1.3,
      ['worktree-100000', 'taskflow run', column],
      ['worktree-100000', 'git status', column],
    ),
  ),
  ...phaseTargets,
  ...callTargets(1000),
  ...callTargets(10_000),
  callMemory,
  ...mapTargets,
  ratio(
    'command runner, 200 calls, 20 at once : a bare spawn loop',
    1.15,
    ['command-200', 'taskflow', 'wall, ms'],
    ['command-200', 'floor', 'wall, ms'],
  ),
];

/** Targets whose measures were not taken in this run are left out. @param {Results} results */
export function judgeTargets(results) {
  return TARGETS.flatMap(({ name, limit, judge }) => {
    const verdict = judge(results);
    return verdict ? [{ name, limit, value: verdict.value, verdict: verdict.pass ? 'pass' : '**miss**' }] : [];
  });
}

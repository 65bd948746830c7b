interface Flag {
  readonly name: string;
  /** What it may be at the start. */
  readonly usual: readonly number[];
  readonly tuned: number;
}

/** The young generation stays as it is when the run begins, and the old one is collected a little sooner. */
const HEAP: readonly Flag[] = [
  { name: 'semi-space-growth-factor', usual: [2], tuned: 1 },
  { name: 'heap-growing-percent', usual: [0], tuned: 80 },
];

/** From Node 22 on: how often a function is called before one of two compilers takes its time for it. */
const BY_CALLS: readonly Flag[] = [
  { name: 'invocation-count-for-turbofan', usual: [3_000, 10_000, 16_000], tuned: 100_000 },
  { name: 'invocation-count-for-maglev', usual: [400], tuned: 100_000 },
  ...HEAP,
];

/** By version of V8, whose flags come and go; it complains about one that it does not know, so others are left alone. */
const FLAGS_OF: Readonly<Record<string, readonly Flag[]>> = {
  11: [{ name: 'interrupt-budget', usual: [66 * 1024, 132 * 1024], tuned: 1_000_000 }, ...HEAP],
  12: BY_CALLS,
  13: BY_CALLS,
  14: BY_CALLS,
};

/**
 * A large run is much code that runs a thousand times each, often beside processes that need the cores and are forked from
 * this one. V8 would spend a fifth of its time on optimizing what is soon over, on all cores and in memory that every fork
 * copies, and let its heap grow to three times of what is alive in it. Only for a process of our own: a library leaves the
 * engine of its host alone.
 */
const FLAGS = FLAGS_OF[process.versions.v8.split('.', 1)[0]!] ?? [];

let usual: ReadonlyMap<string, number> | undefined;
let isTuned = false;

/**
 * For the rest of the process. Where it is not known how to go back nothing is tuned; the last value that was tried stays,
 * which costs the compiled code of the packs that are loaded later.
 */
export function tuneEngine(): void {
  if (isTuned) return;
  isTuned = true;
  usual = usualFlags();
  if (usual) for (const { name, tuned } of FLAGS) set(name, tuned);
}

/** V8 makes and takes compiled code only under the flags that it was compiled with: with those it starts with. */
export function withUsualFlags<T>(work: () => T): T {
  if (!usual) return work();
  for (const [name, value] of usual) set(name, value);
  try {
    return work();
  } finally {
    for (const { name, tuned } of FLAGS) set(name, tuned);
  }
}

/** There is no way to ask for a flag; but the tag of compiled code stays the same when one is set to what it was. */
function usualFlags(): ReadonlyMap<string, number> | undefined {
  const { cachedDataVersionTag } = v8();
  const tag = cachedDataVersionTag();
  const found = new Map<string, number>();
  for (const { name, usual: candidates } of FLAGS) {
    const value = candidates.find((candidate) => {
      set(name, candidate);
      return cachedDataVersionTag() === tag;
    });
    if (value === undefined) return undefined;
    found.set(name, value);
  }
  return found;
}

function set(name: string, value: number): void {
  v8().setFlagsFromString(`--${name}=${value}`);
}

/** Not worth a millisecond where nothing is tuned. */
function v8() {
  return process.getBuiltinModule('node:v8');
}

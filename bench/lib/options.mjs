import { parseArgs } from 'node:util';

export const HELP = `Usage: npm run bench -- [options] [WORKLOAD …]

Measures taskflow beside its peers and the floor on generated work, in one run, and prints Markdown tables.

  --only NAMES     comma-separated workloads: startup, graphs, memory, map, store, maintenance, glob, check, batch,
                   assemble, shared, observe, observed-paths, worktree, phases, calls, calls-10000, maps, command, mcp,
                   workers (default: all)
  --peers NAMES    comma-separated peers, or "none" (default: all; missing ones are named in the table)
  --sizes LIST     phases per chain and fan (default: 10,100,1000)
  --rounds N       rounds of interleaved samples (default: 7)
  --budget SECONDS at most that long on one contender and size, once it has one sample (default: 40)
  --quick          small sizes, few rounds: to see that everything works, not to compare
  --no-build       measure dist/ as it is
  --json FILE      also write every number to FILE
  --help           this text

Example: npm run bench -- --only startup,graphs --peers make,ninja --sizes 100
`;

const FLAGS = /** @type {const} */ ({
  only: { type: 'string' },
  peers: { type: 'string' },
  sizes: { type: 'string' },
  rounds: { type: 'string' },
  budget: { type: 'string' },
  quick: { type: 'boolean' },
  'no-build': { type: 'boolean' },
  json: { type: 'string' },
  help: { type: 'boolean' },
});

/**
 * @typedef {ReturnType<typeof parseOptions>} Options
 * @param {string[]} args
 */
export function parseOptions(args) {
  const { values, positionals } = parseArgs({ args, options: FLAGS, allowPositionals: true });
  const quick = values.quick ?? false;
  return {
    help: values.help ?? false,
    only: list(values.only) ?? (positionals.length > 0 ? positionals : undefined),
    peers: values.peers === 'none' ? [] : list(values.peers),
    sizes: list(values.sizes)?.map((text) => whole(text, 'sizes', 3)) ?? (quick ? [10, 100] : [10, 100, 1000]),
    rounds: values.rounds === undefined ? (quick ? 3 : 7) : whole(values.rounds, 'rounds', 1),
    budgetMs: 1000 * (values.budget === undefined ? (quick ? 5 : 40) : whole(values.budget, 'budget', 1)),
    quick,
    build: !values['no-build'],
    json: /** @type {string | undefined} */ (values.json),
  };
}

function list(text) {
  return text?.split(',').map((part) => part.trim());
}

function whole(text, name, least) {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    throw new Error(`--${name}: ${text} is not a whole number of at least ${least}`);
  }
  return value;
}

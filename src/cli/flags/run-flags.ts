import type { FlowOverrides } from '../../check/check-flow.js';
import type { RunOptions, Selection } from '../../run/core/options.js';
import type { Invocation } from '../boot/command.js';
import { ALLOW_KEY_FLAG, jsonFlag, OTEL_FLAG } from './common-flags.js';
import { type FlagSpec, ONLY_INLINE } from './flag-spec.js';

/** Flags of every command that runs a flow: `run`, `resume`. */
export const RUN_FLAGS: readonly FlagSpec[] = [
  jsonFlag('one JSON result on stdout; {status: "refused", error, problems} if nothing could be started'),
  {
    name: 'events',
    type: 'boolean',
    help: 'one JSON event per line on stdout, as they happen; only one, of type refused, if nothing could be started',
  },
  { name: 'quiet', alias: 'q', type: 'boolean', help: 'no progress on stderr, only why it did not end well' },
  { name: 'arg', alias: 'a', type: 'list', value: 'K=V', help: 'an argument of the flow' },
  { name: 'args-file', type: 'string', value: 'FILE', help: 'arguments from a JSON or YAML file (- is stdin)' },
  { name: 'no-cache', type: 'boolean', help: 'neither read nor write reuse' },
  { name: 'refresh', type: 'boolean', help: 'write reuse, but do not read it' },
  { name: 'no-remote', type: 'boolean', help: 'do not use the shared cache (cache.remote)' },
  { name: 'incremental', type: 'boolean', help: 'as if the flow said incremental: true, for this run' },
  { name: 'retries', type: 'number', value: 'N', help: 'retries of failed phases that set none' },
  { name: 'frozen', type: 'boolean', help: 'a cross-run phase that would have to run is an error (status 6)' },
  {
    name: 'rerun',
    type: 'list',
    value: 'ID',
    help: 'run this phase again, a side effect too; of items in doubt also one: ID[3]',
  },
  {
    name: 'skip',
    type: 'list',
    value: 'ID',
    help: 'leave this phase out; a side effect that has begun is kept as done (an item: ID[3])',
  },
  { name: 'keep-going', type: 'boolean', help: 'after a failure go on with what does not depend on it' },
  { name: 'concurrency', type: 'number', value: 'N', help: 'phase executions at once' },
  {
    name: 'workers',
    type: 'string',
    value: 'URL',
    help: 'let workers do units: their queue (redis://…, or env:NAME for a variable with it)',
  },
  { name: 'no-workers', type: 'boolean', help: 'do everything here, whatever the settings say' },
  { name: 'leave', type: 'boolean', help: 'after Ctrl-C workers finish what they have begun' },
  { name: 'max-usd', type: 'number', value: 'N', help: 'stop starting work once this much is spent' },
  { name: 'runner', type: 'string', value: 'NAME', help: 'runner of all phases, whatever they name' },
  { name: 'model', type: 'string', value: 'M', help: 'model of all phases, whatever they name' },
  ALLOW_KEY_FLAG,
  { name: 'junit', type: 'string', value: 'FILE', help: 'a test report for CI; its folder is made' },
  OTEL_FLAG,
  { name: 'timeout', type: 'duration', value: 'D', help: 'end the run after this long' },
  {
    name: 'no-wait',
    type: 'boolean',
    help: "pause the run (status 4) at a provider's usage limit; run again to go on",
  },
  { name: 'detach', type: 'boolean', help: 'print the run id and return; the run goes on by itself (see runs attach)' },
  { name: 'detached-as', type: 'string', value: 'ID', help: 'the id that --detach has given out', hidden: true },
  { name: 'yes', alias: 'y', type: 'boolean', help: 'approve every approval' },
];

/** The options of a run from its flags, or what is wrong with them. */
export function readRunFlags(
  { flags }: Invocation,
  more: Selection = {},
): Partial<RunOptions> | { readonly problem: string } {
  const noCache = flags.boolean('no-cache');
  const refresh = flags.boolean('refresh');
  const frozen = flags.boolean('frozen');
  if (noCache && refresh) return { problem: '--no-cache and --refresh contradict each other' };
  if (frozen && (noCache || refresh))
    return { problem: `--frozen needs what ${noCache ? '--no-cache' : '--refresh'} forbids` };
  if (flags.boolean('json') && flags.boolean('events')) return { problem: '--json and --events both want stdout' };
  const concurrency = flags.number('concurrency');
  if (concurrency !== undefined && (!Number.isInteger(concurrency) || concurrency < 1)) {
    return { problem: '--concurrency is a whole number from 1 on' };
  }
  const maxUSD = flags.number('max-usd');
  const retries = flags.number('retries');
  if (retries !== undefined && (!Number.isInteger(retries) || retries < 0 || retries > 100)) {
    return { problem: '--retries is a whole number from 0 to 100' };
  }
  if (maxUSD !== undefined && maxUSD < 0) return { problem: '--max-usd is an amount of money, not less than 0' };
  return {
    reuse: noCache ? 'off' : refresh ? 'refresh' : 'on',
    remote: flags.boolean('no-remote') ? 'off' : undefined,
    frozen,
    keepGoing: flags.boolean('keep-going'),
    concurrency,
    maxUSD,
    runner: flags.string('runner'),
    model: flags.string('model'),
    timeoutMs: flags.duration('timeout'),
    waitForLimits: !flags.boolean('no-wait'),
    detachedAs: flags.string('detached-as'),
    selection: { ...more, rerun: flags.list('rerun'), skip: flags.list('skip') },
  };
}

/** Changes of the flow itself by flags. */
export function flowOverrides({ flags }: Invocation): FlowOverrides | undefined {
  // Commands that do not run a flow have neither flag.
  if (!flags.given().some((name) => name === 'retries' || name === 'incremental')) return undefined;
  return { incremental: flags.boolean('incremental') || undefined, retries: flags.number('retries') };
}

/** All flags of `taskflow run`. */
export const FLOW_FLAGS: readonly FlagSpec[] = [
  { name: 'dry-run', alias: 'n', type: 'boolean', help: 'what would run or be reused, and why; executes nothing' },
  { name: 'fresh', type: 'boolean', help: 'never continue an unfinished run' },
  { name: 'iterate', type: 'boolean', help: 'continue the last run even if it is finished' },
  {
    name: 'resume',
    type: 'string',
    value: 'RUN',
    optionalValue: /^(last|\d{8}-\d{6}-[0-9a-z]{6})$/,
    // After FLOW, a word that is not an argument of the flow is a part of a run's id.
    laterValue: /^[^-=][^=]*$/,
    help: 'continue that run: its id, a unique part of it, or last (also without RUN), the last one of this flow',
  },
  { name: 'resume-from', type: 'string', value: 'FILE', help: 'continue from an exported checkpoint' },
  { name: 'only', type: 'string', value: 'ID', help: 'this phase alone; what it needs is restored' },
  { name: 'from', type: 'string', value: 'ID', help: 'this phase and everything after it' },
  { name: 'until', type: 'string', value: 'ID', help: 'this phase and everything it needs' },
  {
    name: 'watch',
    type: 'string',
    value: 'restart',
    choices: ['restart'],
    // The next word may be the flow.
    optionalValue: ONLY_INLINE,
    help: 'run again when something changed that the flow looks at; =restart ends the run that is under way',
  },
  ...RUN_FLAGS,
];

import type { QueueSender } from '../../queue/sender.js';
import type { RunOptions } from '../../run/core/options.js';
import type { Invocation } from '../boot/command.js';

/** Units that workers may have at the same time, by default. */
const AWAY = 256;
const WAIT_MS = 30_000;

type OpenedWorkers =
  | { readonly sender?: QueueSender; readonly notices?: readonly string[] }
  | { readonly problem: string; readonly hint?: string };

/** Opens the queue that `--workers` or the settings name; loads nothing where they name none. */
export async function openWorkers(
  { flags, project }: Pick<Invocation, 'flags' | 'project'>,
  { config, reuse, remote }: Pick<RunOptions, 'config' | 'reuse' | 'remote'>,
): Promise<OpenedWorkers> {
  const written = wantedWorkers({ flags }, config);
  if (written === undefined) return {};
  if (reuse === 'off' || remote === 'off') {
    const flag = reuse === 'off' ? '--no-cache' : '--no-remote';
    return flags.has('workers') ? { problem: `--workers needs what ${flag} forbids` } : {};
  }
  const { openSender } = await import('../../queue/open-sender.js');
  const { concurrency = AWAY, waitMs = WAIT_MS } = config.workers ?? {};
  return openSender({ written, project, config, concurrency, waitMs, leave: flags.boolean('leave') });
}

/** For a dry run, which connects to no queue: only tells where units would be done. */
export function forecastWorkers(invocation: Pick<Invocation, 'flags'>, config: RunOptions['config']) {
  const wanted = wantedWorkers(invocation, config) !== undefined;
  return wanted ? { workers: { concurrency: 1, send: async () => ({ stays: 'a dry run sends nothing' }) } } : {};
}

/** The queue as written; undefined where everything is done here. */
function wantedWorkers({ flags }: Pick<Invocation, 'flags'>, config: RunOptions['config']): string | undefined {
  if (flags.boolean('no-workers')) return undefined;
  return flags.string('workers') ?? config.workers?.url;
}

/** The message after the first Ctrl-C. */
export function interruptLine({ flags }: Pick<Invocation, 'flags'>, line: string): string {
  return flags.boolean('leave') ? 'interrupted: workers finish what they have; once more ends at once' : line;
}

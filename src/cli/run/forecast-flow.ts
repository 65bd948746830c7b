import type { Config } from '../../model/config.js';
import { type Forecast, forecastRun } from '../../run/forecast/forecast.js';
import type { Invocation } from '../boot/command.js';
import { complain } from '../errors/problem.js';
import { givenArgs } from '../flags/given-args.js';
import { prepareRun } from './prepare-run.js';

interface ForecastRequest {
  readonly typed: string;
  readonly pairs: readonly string[];
  readonly config: Config;
  /** Fetch results from the shared store that the local one does not have. */
  readonly remote?: 'on';
}

/** What the next run of a flow would do; or the exit status after its problems have been shown. */
export async function forecastFlow(
  invocation: Invocation,
  { typed, pairs, config, remote }: ForecastRequest,
): Promise<Forecast | { readonly status: number }> {
  const options = await prepareRun(invocation, {
    typed,
    config,
    args: ({ args }) => givenArgs(invocation, args, { pairs }),
  });
  if ('status' in options) return options;
  const forecast = await forecastRun({ ...options, remote });
  if ('refused' in forecast) return { status: complain(invocation, forecast.refused.message, forecast.refused.hint) };
  return forecast;
}

import { isFlowPath } from '../../check/find-flow.js';
import type { Config } from '../../model/config.js';
import { type Forecast, forecastRun } from '../../run/forecast/forecast.js';
import type { Invocation } from '../boot/command.js';
import { complain, complainAll } from '../errors/problem.js';
import { givenArgs } from '../flags/given-args.js';
import { requireFlow } from '../load/flow-file.js';

export interface ForecastRequest {
  readonly typed: string;
  readonly pairs: readonly string[];
  readonly config: Config;
}

/** What the next run of a flow would do; or the exit status after its problems have been shown. */
export async function forecastFlow(
  invocation: Invocation,
  { typed, pairs, config }: ForecastRequest,
): Promise<Forecast | { readonly status: number }> {
  const loaded = await requireFlow(invocation, typed);
  if ('status' in loaded) return loaded;
  const bound = await givenArgs(invocation, loaded.flow.args, { pairs });
  if ('problems' in bound) return { status: complainAll(invocation, bound.problems) };
  const { flow, file, digest } = loaded;
  const source = { ref: typed, byName: !isFlowPath(typed), file, digest };
  const forecast = await forecastRun({ project: invocation.project, config, flow, source, args: bound.args });
  if ('refused' in forecast) return { status: complain(invocation, forecast.refused.message, forecast.refused.hint) };
  return forecast;
}

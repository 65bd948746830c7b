import type { Failure } from '../../model/failure.js';
import { addUsage, NO_OUTPUT, NO_USAGE } from '../../model/outcome.js';
import { formatBytes } from '../../util/format.js';
import { mapInTurns } from '../../util/turn.js';
import type { PhaseContext } from '../context/phase-context.js';
import { notStarted } from '../core/cancelled.js';
import { causeText } from '../core/cause-text.js';
import { type Execution, failedBefore, type Settled } from '../core/execution.js';
import { forecastOfParts } from '../core/forecast-outcome.js';
import { outputBytes } from '../core/output-text.js';
import { isNamed, unitName, unknownUnits } from '../core/selectors.js';
import { numbering } from '../reuse/ordinals.js';
import { whyEntered } from '../reuse/why-missed.js';
import { runUnits } from '../units/run-unit.js';
import type { UnitSpec } from '../units/unit.js';
import { itemsReason, settleComposite, sumOf } from './aggregate.js';
import { together } from './together.js';
import { unitTitle } from './unit-title.js';

type LabelledSpec = UnitSpec & { readonly label: string };

interface Together {
  /** Titles of what the units say, which are the names of their values too. */
  readonly names?: readonly string[];
  /** Of the phase itself; those of the units follow it. */
  readonly remark?: string | undefined;
}

/** Units side by side; the phase is done when all of them are. Progress is reported as they come in. */
export async function fanOut(
  at: PhaseContext,
  specs: readonly LabelledSpec[],
  { names, remark }: Together = {},
): Promise<Settled> {
  const { clock } = at.run.options.project;
  const startedAt = clock.elapsed();
  const because = whyEntered(at);
  const odd = oddSelection(at, specs);
  if (odd) return settleComposite(at, failedBefore(odd), because);
  at.run.io.emit({ type: 'phase-start', phase: at.path, reason: because });
  const counts = { total: specs.length, done: 0, failed: 0, reused: 0 };
  const running = new Set<LabelledSpec>();
  let usage = NO_USAGE;
  let isReporting = false;
  // Those that come in together, as a thousand reused ones do, are reported together.
  const reportSoon = () => {
    if (isReporting) return;
    isReporting = true;
    queueMicrotask(() => {
      isReporting = false;
      const [oldest] = running;
      const now = oldest ? { current: unitTitle(at, oldest), running: running.size } : {};
      at.run.io.emit({ type: 'phase-progress', phase: at.path, items: { ...counts, ...now }, usage });
    });
  };
  const size = new OutputSize(at.run.options.config.limits.outputBytes);
  const onSettled = (settled: Settled, spec: LabelledSpec) => {
    size.add(settled);
    running.delete(spec);
    usage = addUsage(usage, settled.usage);
    if (settled.status === 'done') counts.done += 1;
    if (settled.status === 'failed') counts.failed += 1;
    if (settled.origin.hit) counts.reused += 1;
    reportSoon();
  };
  const numbered = await mapInTurns(specs, numbering(at, specs), at.signal);
  // Stopped while the list was still being made: its length is not known.
  if (at.signal.aborted) return settleComposite(at, failedBefore(notStarted(at)), because);
  // The view shows how many there are before the first one is done.
  reportSoon();
  const watch = {
    onBegun(spec: LabelledSpec) {
      running.add(spec);
      reportSoon();
    },
    onSettled,
    get hasEnough() {
      return size.isTooLarge;
    },
  };
  const units = await runUnits(at, numbered, watch);
  warnOfKept(at, specs, units);
  const durationMs = clock.elapsed() - startedAt;
  const sum = sumOf(units, durationMs);
  const wrong = size.isTooLarge ? { status: 'failed' as const, failure: size.failure() } : worst(at, specs, units);
  const output = wrong ? NO_OUTPUT : together(at, units, names);
  const bad = 'failure' in output ? { status: 'failed' as const, failure: output.failure } : wrong;
  const execution: Execution = {
    ...sum,
    status: bad?.status ?? 'done',
    output: 'failure' in output ? NO_OUTPUT : output,
    durationMs,
    files: units.flatMap(({ result }) => result.files),
    failure: bad?.failure,
    remark: [remark, remarkOf(specs, units)].filter(Boolean).join('; ') || undefined,
    inputs: { units: specs.length },
  };
  const withFiles =
    execution.status === 'done' && at.phase.outputs.length > 0 && execution.files.length === 0
      ? await at.run.reuse.outputFiles.capture(at.phase.outputs, execution)
      : execution;
  const first = units.find(({ origin }) => !origin.hit);
  return settleComposite(at, withFiles, itemsReason(sum.items, first?.origin.reason ?? because));
}

/** What all units say together is the phase's output, and is bounded like that of any other phase. */
class OutputSize {
  #length = 0;

  constructor(private readonly most: number) {}

  add({ result }: Settled): void {
    this.#length += outputBytes(result.output);
  }

  get isTooLarge(): boolean {
    return this.#length > this.most;
  }

  failure(): Failure {
    return {
      code: 'limit',
      message: `the outputs of all items together are larger than ${formatBytes(this.most)}`,
      hint: 'Let each write to a file and name the files in `outputs`, or raise `limits.outputBytes` in the settings.',
    };
  }
}

/** Units that `--rerun` or `--skip` name: each must be there, or nobody knows what was meant. */
function oddSelection({ run, scope, phase }: PhaseContext, specs: readonly LabelledSpec[]): Failure | undefined {
  const { rerun = [], skip = [] } = run.options.selection ?? {};
  if (rerun.length + skip.length === 0) return undefined;
  const labels = specs.map(({ label }) => label);
  const [unknown] = unknownUnits(scope, { id: phase.id, units: labels }, [...rerun, ...skip]);
  if (unknown === undefined) return undefined;
  const some = labels.slice(0, 10).map((label) => unitName(phase.id, label));
  const hint = labels.length === 0 ? 'It has none.' : `It has ${some.join(', ')}${labels.length > 10 ? ', …' : ''}.`;
  return { code: 'bad-input', message: `there is no ${unknown}`, hint };
}

/** Naming one unit is for a unit in doubt: says so where `--rerun` names another one and nothing is run again. */
function warnOfKept(
  { run, scope, phase }: PhaseContext,
  specs: readonly LabelledSpec[],
  units: readonly Settled[],
): void {
  const { rerun = [] } = run.options.selection ?? {};
  if (!rerun.some((name) => name.endsWith(']'))) return;
  for (const [index, { label }] of specs.entries()) {
    const name = unitName(phase.id, label);
    if (units[index]!.origin.hit === null || !isNamed(scope, name, rerun)) continue;
    run.io.warn(`${name} is not in doubt, so its result is kept; --rerun ${phase.id} runs the phase again`);
  }
}

const MOST_REMARKS = 3;

/** Remarks of units become the phase's remark: nobody sees a unit's own. */
function remarkOf(specs: readonly LabelledSpec[], units: readonly Settled[]): string | undefined {
  if (specs.length === 0) return 'the list is empty: there was nothing to do';
  const times = new Map<string, number>();
  for (const { remark } of units) if (remark !== undefined) times.set(remark, (times.get(remark) ?? 0) + 1);
  const said = [...times].map(([remark, count]) => {
    if (count > 1) return `${remark} (${count} of ${units.length})`;
    return `${specs[units.findIndex((unit) => unit.remark === remark)]!.label}: ${remark}`;
  });
  const rest = said.length > MOST_REMARKS ? [`and ${said.length - MOST_REMARKS} more`] : [];
  return [...said.slice(0, MOST_REMARKS), ...rest].join('; ') || undefined;
}

/** What the phase as a whole came to when not every unit is done. */
function worst(
  at: PhaseContext,
  specs: readonly LabelledSpec[],
  units: readonly Settled[],
): { readonly status: Execution['status']; readonly failure: Failure } | undefined {
  if (units.every(({ status }) => status === 'done')) return undefined;
  const failed = units.flatMap((unit, index) => (unit.status === 'failed' ? [{ unit, spec: specs[index]! }] : []));
  if (failed.length > 0) return { status: 'failed', failure: itemsFailure(at, failed, units.length) };
  const unfinished = units.filter((unit) => unit.status === 'cancelled').map(({ failure }) => failure);
  const forecast = forecastOfParts(unfinished);
  if (forecast) return { status: 'cancelled', failure: forecast };
  for (const status of ['blocked', 'paused', 'cancelled'] as const) {
    const unit = units.find((candidate) => candidate.status === status);
    if (unit) return { status, failure: unit.failure ?? { code: 'interrupted', message: status } };
  }
  return undefined;
}

function itemsFailure(
  at: PhaseContext,
  failed: readonly { readonly unit: Settled; readonly spec: LabelledSpec }[],
  total: number,
): Failure {
  const first = failed[0]!;
  const cause = first.unit.failure;
  const frozen = failed.every(({ unit }) => unit.failure?.code === 'frozen');
  const doubtful = failed.filter(({ unit }) => unit.failure?.code === 'in-doubt' && unit !== first.unit);
  const others = doubtful.slice(0, 10).map(({ spec }) => spec.label);
  if (doubtful.length > 10) others.push('…');
  const also = others.length === 0 ? '' : ` (so are ${others.join(', ')})`;
  const said = cause ? causeText(cause, (text) => at.run.io.secrets.mask(text)) : 'failed';
  return {
    code: frozen ? 'frozen' : cause?.code === 'in-doubt' ? 'in-doubt' : 'items',
    message: `${failed.length} of ${total} failed; ${unitTitle(at, first.spec)}: ${said}${also}`,
    hint: cause?.hint ?? 'Running again executes only what failed.',
    detail:
      failed.length === 1
        ? cause?.detail
        : failed
            .slice(0, 5)
            .map((one) => described(at, one))
            .join('\n'),
  };
}

function described(at: PhaseContext, { unit, spec }: { readonly unit: Settled; readonly spec: LabelledSpec }): string {
  const { message = '', detail } = unit.failure ?? {};
  return `${unitTitle(at, spec)}: ${message}${detail ? `\n${detail}` : ''}`;
}

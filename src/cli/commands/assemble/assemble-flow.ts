import { type AssembleOutcome, assemble } from '../../../assemble/assemble.js';
import type { AssembleEventBody } from '../../../assemble/events.js';
import { recordFile } from '../../../assemble/folder.js';
import { DEFAULT_ROUNDS } from '../../../assemble/request.js';
import { formatCost } from '../../../util/format.js';
import type { Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain, complainAll } from '../../errors/problem.js';
import { listenForInterrupts } from '../../run/interrupt.js';
import { requireRunConfig } from '../../run/prepare-run.js';
import { createStyle } from '../../terminal/style.js';
import { adviceLines } from '../../text/advice.js';
import { askAboutFlow, canAsk } from './ask-flow.js';
import { assembledJson, type Complete } from './outcome-json.js';
import { showingSteps } from './progress.js';
import { readRequest } from './request-files.js';

/** `taskflow assemble TASK`. */
export async function assembleFlowCommand(invocation: Invocation): Promise<number> {
  const { flags, project } = invocation;
  const wrong = contradiction(invocation);
  if (wrong) return complain(invocation, wrong);
  const read = await readRequest(invocation);
  if ('problems' in read) return complainAll(invocation, read.problems);
  const configured = await requireRunConfig(invocation);
  if ('status' in configured) return configured.status;
  const { config } = configured;
  const maxUSD = flags.number('max-usd');
  const interrupt = listenForInterrupts((line) => invocation.err.write(`${line}\n`));
  const foreign = 'a plan is there that you have not made, or not on this machine:';
  const outcome = await assemble({
    project,
    config,
    request: read.request,
    limits: { maxRounds: flags.number('max-rounds') ?? DEFAULT_ROUNDS, ...(maxUSD !== undefined && { maxUSD }) },
    runner: flags.string('runner'),
    model: flags.string('model'),
    replan: flags.boolean('replan'),
    ...(flags.has('allow-scripts') && { allowScripts: flags.boolean('allow-scripts') }),
    signal: interrupt.signal,
    waitForLimits: !flags.boolean('no-wait'),
    onEvent: listener(invocation),
    ...(canAsk(invocation) && {
      askForeign: (record) => askAboutFlow(invocation, { record, why: foreign, signal: interrupt.signal }),
    }),
  });
  interrupt.dispose();
  if (outcome.status === 'refused') return complainAll(invocation, outcome.problems);
  if (outcome.status === 'incomplete') return notAssembled(invocation, outcome);
  if (!flags.boolean('run')) return assembled(invocation, outcome);
  const { runAssembled } = await import('./run-assembled.js');
  return runAssembled(invocation, { outcome, config });
}

function contradiction({ flags, positionals }: Invocation): string | undefined {
  const given = positionals.length > 1 || flags.has('arg') || flags.has('args-file');
  if (given && !flags.boolean('run')) return 'arguments are for --run';
  const rounds = flags.number('max-rounds');
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1))
    return '--max-rounds is a whole number from 1 on';
  const usd = flags.number('max-usd');
  if (usd !== undefined && usd <= 0) return '--max-usd is more than 0';
  if (flags.boolean('json') && flags.boolean('events')) return '--json and --events contradict each other';
  return undefined;
}

function listener(invocation: Invocation): (event: AssembleEventBody) => void {
  const { flags, out, project } = invocation;
  const show = showingSteps(invocation);
  if (!flags.boolean('events')) return show;
  return (event) => {
    out.write(`${JSON.stringify({ ...event, at: project.clock.now() })}\n`);
    show(event);
  };
}

type Incomplete = Extract<AssembleOutcome, { readonly status: 'incomplete' }>;

function assembled({ flags, out, err }: Invocation, outcome: Complete): number {
  if (flags.boolean('json')) out.write(`${JSON.stringify(assembledJson(outcome))}\n`);
  else if (!flags.boolean('events')) out.write(`${outcome.record.id}\n`);
  if (!flags.boolean('quiet')) {
    const { id } = outcome.record;
    const advice = adviceLines(
      [
        [`taskflow assemble show ${id}`, 'shows it'],
        [`taskflow assemble promote ${id} --as NAME`, 'saves it as a flow of the project'],
      ],
      { style: createStyle(err.color), columns: err.isTerminal ? err.columns : undefined },
    );
    const isNew = outcome.how !== 'memory' && outcome.how !== 'disk';
    err.write(`${[...(isNew ? [`  ${formatCost(outcome.spent)}`] : []), ...advice].join('\n')}\n`);
  }
  return EXIT.success;
}

const STATUS: Partial<Record<Incomplete['ended'], number>> = {
  money: EXIT.overBudget,
  interrupted: EXIT.interrupted,
  limit: EXIT.waiting,
};

function notAssembled({ flags, out, err, command }: Invocation, outcome: Incomplete): number {
  const { ended, error, hint, known, spent, record, definition } = outcome;
  const what = known ? 'no flow was made, the last time either' : 'no flow was made';
  err.write(`taskflow ${command}: ${what}: ${error}\n${hint === undefined ? '' : `  ${hint}\n`}`);
  if (flags.boolean('json')) {
    const facts = record && {
      id: record.id,
      inputId: record.inputId,
      file: recordFile(record.id),
      rounds: record.rounds.length,
    };
    const last = ended === 'disk' && definition ? { flow: definition } : {};
    out.write(
      `${JSON.stringify({ status: 'incomplete', ended, ...facts, spent, error: { message: error, hint }, ...last })}\n`,
    );
  } else if (ended === 'disk' && definition) {
    // It was paid for, and could not be written to disk.
    err.write('  the last flow follows on stdout\n');
    out.json(definition);
  }
  return known ? EXIT.failed : (STATUS[ended] ?? EXIT.failed);
}

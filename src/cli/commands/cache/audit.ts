import { addUsage, NO_USAGE, totalTokens } from '../../../model/outcome.js';
import { type Audit, type Audited, type AuditPlan, auditRun } from '../../../run/forecast/audit.js';
import { askJudge } from '../../../run/forecast/audit-judge.js';
import { formatMoney, plural } from '../../../util/format.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { ARG_FLAGS, jsonFlag } from '../../flags/common-flags.js';
import { givenArgs } from '../../flags/given-args.js';
import { requireConfig } from '../../load/settings.js';
import { askPerson } from '../../run/ask-person.js';
import { prepareRun } from '../../run/prepare-run.js';
import { createStyle } from '../../terminal/style.js';
import { lineDiff } from '../../text/line-diff.js';

export const command: Command = {
  usage: 'FLOW… [--sample 5%] [--yes] [--json]',
  description: `Executes a sample of the results that a run would reuse again, in this project, and compares. Nothing of
it is kept, and side effects are never executed; files that come out differently are put back. Without FLOW, all saved
flows that need no arguments are audited. Answers of agents that differ are shown, with the opinion of the model that
models.judge names, if there is one.

Status: 0 if all are the same, 1 if one is different or fails.`,
  examples: [
    { command: 'taskflow audit release --sample 20%', does: 'how far the cache of this flow can be trusted' },
    { command: 'taskflow audit --sample 5% --yes --json', does: 'all saved flows, from a timer' },
  ],
  flags: [
    { name: 'sample', type: 'string', value: 'N%', help: 'how many of the results (default 5%, at least one a flow)' },
    { name: 'yes', alias: 'y', type: 'boolean', help: 'do not ask before anything is executed' },
    ...ARG_FLAGS,
    jsonFlag('as JSON: [{flow, hits, audited: [{phase, unit, result, before, now, files, observed, news, opinion}]}]'),
  ],
  positionals: [{ name: 'FLOW', help: 'a path, or the name of a saved flow', required: false, many: true }],
  async run(invocation) {
    const sample = shareOf(invocation.flags.string('sample') ?? '5%');
    if (sample === undefined) return complain(invocation, '--sample is a share such as 5%', 'from 0% to 100%');
    const configured = await requireConfig(invocation);
    if ('status' in configured) return configured.status;
    const typed = await namedFlows(invocation);
    const audits: Audit[] = [];
    for (const flow of typed.flows) {
      const options = await prepareRun(invocation, {
        typed: flow,
        config: configured.config,
        args: ({ args }) => givenArgs(invocation, args, { pairs: [] }),
      });
      if ('status' in options) return options.status;
      let isRefused = false;
      const confirm = async (plan: AuditPlan) => {
        const answer = await mayExecute(invocation, plan);
        isRefused = answer === undefined;
        return answer === true;
      };
      const audit = await auditRun(options, { sample, mayAsk: canBeAsked(invocation), confirm, judge: askJudge });
      if ('refused' in audit) return complain(invocation, audit.refused.message, audit.refused.hint);
      if (isRefused) return complain(invocation, 'it executes phases, and there is no terminal to ask at', 'say --yes');
      audits.push(audit);
    }
    if (invocation.flags.boolean('json')) invocation.out.json(audits);
    else for (const audit of audits) show(invocation, audit);
    return audits.flatMap(({ audited }) => audited).every(isTrusted) ? EXIT.success : EXIT.failed;
  },
};

function shareOf(text: string): number | undefined {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text.trim());
  const share = percent ? Number(percent[1]) / 100 : undefined;
  return share !== undefined && share <= 1 ? share : undefined;
}

/** Without names: the saved flows that can be run as they are. */
async function namedFlows({ positionals, project }: Invocation): Promise<{ readonly flows: readonly string[] }> {
  if (positionals.length > 0) return { flows: positionals };
  const { projectFlowNames } = await import('../../../check/find-flow.js');
  const { loadFlow } = await import('../../../check/load-flow.js');
  const flows: string[] = [];
  for (const name of projectFlowNames(project)) {
    const loaded = await loadFlow(project, name);
    const needs = 'flow' in loaded && Object.values(loaded.flow.args).some((arg) => arg.required);
    if ('flow' in loaded && !needs) flows.push(name);
  }
  return { flows };
}

/** Shows the expected cost; a person, or --yes, allows it. Undefined: there is nobody to ask. */
async function mayExecute(
  { err, flags, stdin }: Invocation,
  { hits, chosen }: AuditPlan,
): Promise<boolean | undefined> {
  const last = chosen.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const price = last.usd === undefined ? 'an unknown sum' : formatMoney(last.usd);
  const isPaid = last.usd !== 0 || totalTokens(last) > 0;
  const cost = isPaid ? `; the last time that cost ${price} (${totalTokens(last)} tokens)` : '';
  err.write(`${chosen.length} of ${plural(hits, 'reusable result')} will be executed again${cost}\n`);
  if (flags.boolean('yes')) return true;
  if (!err.isTerminal || !stdin.isTerminal) return undefined;
  const { signal } = new AbortController();
  const question = { text: '', prompt: 'go on? [y/N] ', read: readAnswer, signal };
  return (await askPerson(question, err, () => () => {})) ?? false;
}

/** Fingerprints may start commands only where a person can allow the audit to execute. */
function canBeAsked({ err, flags, stdin }: Invocation): boolean {
  return flags.boolean('yes') || (err.isTerminal && stdin.isTerminal);
}

function readAnswer(line: string): boolean | undefined {
  if (/^\s*y(es)?\s*$/i.test(line)) return true;
  return /^\s*(no?)?\s*$/i.test(line) ? false : undefined;
}

/** Equal, or of the same meaning in the opinion of a judge. */
function isTrusted({ result, opinion }: Audited): boolean {
  return result === 'same' || (result === 'different' && opinion?.same === true);
}

function show({ out }: Invocation, { flow, hits, audited }: Audit): void {
  const style = createStyle(out.color);
  for (const one of audited) {
    const name = one.unit === undefined ? one.phase : `${one.phase} (${oneLine(one.unit)})`;
    const mark = isTrusted(one) ? style.green('same') : style.red(one.result);
    out.write(`${mark} ${style.bold(name)}${one.message === undefined ? '' : `: ${oneLine(one.message)}`}\n`);
    for (const file of one.files) out.write(`    ${file} came out differently; it was put back\n`);
    for (const path of one.news) out.write(`    ${oneLine(path)} was looked at now, and not when it was made\n`);
    if (one.opinion)
      out.write(`    the judge: ${one.opinion.same ? 'the same' : 'different'}. ${oneLine(one.opinion.reason)}\n`);
    if (one.result === 'different' && one.before !== one.now) showDiff(out, style, one);
  }
  const good = audited.filter(isTrusted).length;
  const share = audited.length === 0 ? '' : ` (${Math.round((100 * good) / audited.length)}%)`;
  out.write(
    `${flow}: ${plural(hits, 'reusable result')}, ${audited.length} executed again, ${good} the same${share}\n`,
  );
}

const MOST_LINES = 40;

function showDiff(out: Invocation['out'], style: ReturnType<typeof createStyle>, { before, now }: Audited): void {
  const changed = lineDiff(head(before), head(now)).filter(({ mark }) => mark !== ' ');
  for (const { mark, line } of changed.slice(0, MOST_LINES)) {
    out.write(`    ${mark === '-' ? style.red(`- ${line}`) : style.green(`+ ${line}`)}\n`);
  }
}

function head(text: string): string {
  return text.split('\n').slice(0, 400).join('\n');
}

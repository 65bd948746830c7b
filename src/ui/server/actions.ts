import { isRunId } from '../../run/history/runs-folder.js';
import { shellWord } from '../../util/shell-word.js';
import { type PageAnswer, type Refused, refused } from './answer.js';
import { batchToResume } from './batch-to-resume.js';
import type { CommandResult, UiHost } from './host.js';
import type { Body } from './read-body.js';

/** The page acts by command lines, which a person could type as well. */
interface PageAction {
  readonly command: readonly string[];
  readonly names?: readonly string[];
  readonly flags?: readonly string[];
  /** Flags that the page adds and does not show. */
  readonly unshown?: readonly string[];
}

type MakeAction = (body: Body, host: UiHost) => PageAction | Refused;

/** Everything that the page can decide. */
const ACTIONS: Readonly<Record<string, MakeAction>> = {
  approve: (body, { who }) => decision('approve', body, who),
  reject: (body, { who }) => decision('reject', body, who),
  cancel: (body) => ofRun(body, { command: ['runs', 'cancel'] }),
  resume: resuming,
  clear: clearing,
};

export const ACTION_NAMES = Object.keys(ACTIONS);

function decision(word: string, body: Body, who: string): PageAction | Refused {
  const [phase, digest] = [body.text('phase'), body.text('digest')];
  // The digest tells which text the person has read.
  if (phase === undefined || digest === undefined) return refused(400, 'phase and digest are missing');
  const unshown = [`--digest=${digest}`, `--by=${who}`];
  return ofRun(body, { command: [word], names: [phase], flags: flagsOf(body, { note: 'note' }), unshown });
}

/** A batch is continued by its own command, which reads the rows again. */
function resuming(body: Body, { project }: UiHost): PageAction | Refused {
  const flags = flagsOf(body, { from: 'rerun' }, ['--detach']);
  const batch = batchToResume(project, body.text('run') ?? '');
  if (!batch) return ofRun(body, { command: ['resume'], flags });
  if (batch.byHand !== null) return refused(409, batch.byHand, 'The command beside the button does it.');
  return { command: ['batch'], names: [batch.flow], flags: [...batch.flags, ...flags] };
}

function clearing(body: Body): PageAction | Refused {
  const chosen = flagsOf(body, { phase: 'phase', olderThan: 'older-than' }, body.is('all') ? ['--all'] : []);
  const flow = body.text('flow');
  if (flow === undefined && chosen.length === 0) return refused(400, 'nothing is chosen');
  const flags = body.is('preview') ? [...chosen, '--dry-run'] : chosen;
  return { command: ['cache', 'clear'], names: flow === undefined ? [] : [flow], flags };
}

function ofRun(body: Body, { names = [], ...action }: PageAction): PageAction | Refused {
  const run = body.text('run');
  if (run === undefined || !isRunId(run)) return refused(400, 'run is not the id of a run');
  return { ...action, names: [run, ...names] };
}

/** The flags that are always there, then those for the given fields. */
function flagsOf(body: Body, flags: Readonly<Record<string, string>>, always: readonly string[] = []): string[] {
  const given = Object.entries(flags).flatMap(([field, flag]) => {
    const value = body.text(field);
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  return [...always, ...given];
}

/** Runs the command and returns how it ended. A preview changes nothing. */
export async function act(host: UiHost, name: string, body: Body): Promise<PageAnswer> {
  if (host.readOnly && !body.is('preview')) return refused(403, 'this page was started with --read-only');
  const action = ACTIONS[name]!(body, host);
  if ('refusal' in action) return action;
  const { command, names = [], flags = [], unshown = [] } = action;
  // After `--`: a value from a page or a journal is never read as a flag.
  const result = await host.call([...command, ...flags, ...unshown, '--', ...names]);
  return { json: { command: commandText(action), ...outcomeOf(result) } };
}

/** The command line to show. */
function commandText({ command, names = [], flags = [] }: PageAction): string {
  const dashed = names.some((name) => name.startsWith('-'));
  const rest = dashed ? [...flags, '--', ...names] : [...names, ...flags];
  return ['taskflow', ...command, ...rest].map(shellWord).join(' ');
}

function outcomeOf({ status, stdout, stderr }: CommandResult) {
  return { ok: status === 0, said: `${stdout}${stderr}`.trim() };
}

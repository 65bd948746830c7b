import { useSignal } from '@preact/signals';
import { shellWord } from '../../../util/shell-word.js';
import { oneLine } from '../../../util/terminal-text.js';
import type { OpenQuestion } from '../../server/approvals.js';
import type { LiveRun } from '../../server/run-answers.js';
import { selection } from '../state.js';
import { CommandList } from '../texts.js';
import { timeText } from '../words.js';
import { Beside } from './beside.js';
import { CommandOutput, Confirm } from './confirm.js';
import { type ActionResult, type LiveSource, shownRun } from './live-source.js';

interface DecideProps {
  readonly source: LiveSource;
  readonly runId: string;
}

/** What a person can do about a run: answer its questions, end it, continue it, run it again. */
export function Decide({ source, runId }: DecideProps) {
  const run = shownRun.value;
  if (run?.view.runId !== runId) return null;
  return (
    <section class="decide" aria-label="What can be done">
      {run.continuedBy !== null && (
        <p>
          It went on as run <a href={`#/runs/${run.continuedBy}`}>{run.continuedBy}</a>.
        </p>
      )}
      {run.questions.map((question) => (
        <Approval key={`${question.phase} ${question.digest}`} source={source} runId={runId} question={question} />
      ))}
      <div class="actions">
        <RunActions source={source} run={run} />
        <Beside source={source} runId={runId} />
      </div>
    </section>
  );
}

interface ApprovalProps extends DecideProps {
  readonly question: OpenQuestion;
}

const DECISIONS = [
  ['approve', 'Approve', 'main'],
  ['reject', 'Reject', 'danger'],
] as const;

/** Exactly the text that the run has shown; its digest goes back with the decision. */
function Approval({ source, runId, question }: ApprovalProps) {
  const note = useSignal('');
  const acted = useSignal<ActionResult | 'busy' | undefined>(undefined);
  const { phase, text, digest, deadline, decided } = question;
  const id = `ask-${digest.slice(0, 12)}`;
  const decide = async (word: 'approve' | 'reject') => {
    if (acted.value === 'busy') return;
    acted.value = 'busy';
    acted.value = await source.act(word, { run: runId, phase, digest, note: note.value });
  };
  const noted = note.value === '' ? '' : ` ${shellWord(`--note=${note.value}`)}`;
  return (
    <article class="approval" aria-labelledby={id}>
      <h2 id={id}>{oneLine(phase)} asks</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to reach that. */}
      <pre tabIndex={0}>{text}</pre>
      <p class="none">
        asked {timeText(question.at)} · digest {digest.slice(0, 16)}
        {deadline !== null && ` · to be decided until ${timeText(deadline)}`}
      </p>
      {decided && (
        <p>
          <strong>{decided.decision === 'approve' ? 'Approved' : 'Rejected'}</strong>
          {decided.by !== null && ` by ${oneLine(decided.by)}`} at {timeText(decided.at)}. Another decision replaces it
          until the run goes on.
        </p>
      )}
      {source.decides && (
        <>
          <label class="field">
            <span class="label">A word to later phases (may be empty)</span>
            <input value={note.value} maxLength={4_000} onInput={(event) => (note.value = event.currentTarget.value)} />
          </label>
          <div class="actions">
            {DECISIONS.map(([word, label, kind]) => (
              <button
                key={word}
                type="button"
                class={`action is-${kind}`}
                disabled={acted.value === 'busy'}
                onClick={() => decide(word)}
              >
                {label}
              </button>
            ))}
          </div>
        </>
      )}
      {typeof acted.value === 'object' && <CommandOutput acted={acted.value} />}
      <CommandList
        of={[
          [`taskflow approve ${runId} ${shellWord(phase)}${noted}`, 'say yes in a terminal'],
          [`taskflow reject ${runId} ${shellWord(phase)}${noted}`, 'say no in a terminal'],
        ]}
      />
    </article>
  );
}

function RunActions({ source, run }: { readonly source: LiveSource; readonly run: LiveRun }) {
  const { view, continuedBy, questions, batch } = run;
  const { runId, state, mode } = view;
  const goTo = (acted: ActionResult) => {
    const heir = /\d{8}-\d{6}-[0-9a-z]{6}/.exec(acted.said)?.[0];
    if (acted.ok && heir !== undefined) location.hash = `#/runs/${heir}`;
  };
  if (state === 'running') {
    return (
      <Offer
        source={source}
        label="Cancel run"
        title="End this run?"
        command={`taskflow runs cancel ${runId}`}
        kind="danger"
        act={() => source.act('cancel', { run: runId })}
      >
        <p>What is under way is ended in order, as by Ctrl-C. What is done is kept, and the run can be resumed.</p>
      </Offer>
    );
  }
  // Null: a later batch over the same rows is the one to continue.
  if (continuedBy !== null || (mode === 'batch' && !batch)) return null;
  if (batch && batch.byHand !== null) return state === 'success' ? null : <ByHand {...batch} why={batch.byHand} />;
  const command = batch ? batch.command : `taskflow resume ${runId}`;
  const isOpen = questions.some(({ decided }) => decided === null);
  const phase = selection.value.phase;
  return (
    <>
      {state !== 'success' && !isOpen && (
        <Offer
          source={source}
          label="Resume run"
          title="Go on with this run?"
          command={`${command} --detach`}
          kind="main"
          act={() => source.act('resume', { run: runId })}
          onDone={goTo}
        >
          {batch && <p>The rows are read again from {oneLine(view.over ?? '')}. Those that are done stay done.</p>}
          <p>What it completed is kept. It goes on in a process of its own, also when this page is closed.</p>
        </Offer>
      )}
      {phase !== undefined && !isOpen && (
        <Offer
          source={source}
          label={`Run again from ${oneLine(phase)}`}
          title={`Run ${oneLine(phase)} again?`}
          command={`${command} --detach ${shellWord(`--rerun=${phase}`)}`}
          act={() => source.act('resume', { run: runId, from: phase })}
          onDone={goTo}
        >
          {batch ? (
            <p>
              This phase runs anew in every row, and then what depends on it. A side effect only in rows where nobody
              knows whether it took place.
            </p>
          ) : (
            <p>This phase runs anew, a side effect too, and then what depends on it. The rest is kept.</p>
          )}
        </Offer>
      )}
    </>
  );
}

/** Shows only the command, where the page cannot act itself. */
function ByHand({ command, why }: { readonly command: string; readonly why: string }) {
  return <CommandList of={[[command, `goes on with this batch; not from here, since ${why}`]]} />;
}

/** A button, or only the command where the page may not decide. */
function Offer({ source, ...confirm }: { readonly source: LiveSource } & Parameters<typeof Confirm>[0]) {
  if (source.decides) return <Confirm {...confirm} />;
  return <CommandList of={[[confirm.command, `${confirm.label}, in a terminal: this page is read-only`]]} />;
}

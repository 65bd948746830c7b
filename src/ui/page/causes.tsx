import { formatDuration } from '../../util/duration.js';
import { formatSpent, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Cause, RunView } from '../view/types.js';
import { selectPhase } from './state.js';

const SHOWN = 5;

/** The causes of the spending: one line for each edit. */
export function Causes({ run }: { readonly run: RunView }) {
  const { causes } = run;
  if (run.phases.length === 0) return null;
  const most = Math.max(...causes.map(weight), 0);
  return (
    <section class="causes" aria-labelledby="causes-title">
      <h2 id="causes-title">Why anything ran</h2>
      {causes.length === 0 && <p class="none">Nothing ran: every result was there already, or nothing was started.</p>}
      <ol>
        {causes.slice(0, SHOWN).map((cause) => (
          <li key={cause.what}>
            <span class="cause-what">{oneLine(causeSummary(cause.what))}</span>
            <span class="cause-phases">
              {cause.phases.slice(0, 6).map((id) => (
                <button key={id} type="button" class="chip" onClick={() => selectPhase(id)}>
                  {oneLine(id)}
                </button>
              ))}
              {cause.phases.length > 6 && <span class="note">and {cause.phases.length - 6} more</span>}
              {cause.count > cause.phases.length && <span class="note">{plural(cause.count, 'execution')}</span>}
            </span>
            <span class="cause-cost">{causeCost(cause)}</span>
            <span class="cause-bar" aria-hidden="true">
              <span style={{ width: `${most > 0 ? (weight(cause) / most) * 100 : 0}%` }} />
            </span>
          </li>
        ))}
      </ol>
      {causes.length > SHOWN && <p class="none">and {plural(causes.length - SHOWN, 'smaller cause')}</p>}
    </section>
  );
}

/** The price if there is one, else the time. */
export function causeCost({ spent, ms }: Cause): string {
  return spent.usd === 0 && spent.tokens === 0 ? formatDuration(ms) : formatSpent(spent);
}

/** Compares by price; by time only among causes without a price. */
function weight({ spent, ms }: Cause): number {
  return (spent.usd ?? 0) * 1e9 + spent.tokens * 1e3 + ms / 1e3;
}

const SAID: Readonly<Record<string, string>> = {
  'first time': 'first time: nothing was kept yet',
  'new run': 'new run: not kept across runs',
};

export function causeSummary(what: string): string {
  return Object.hasOwn(SAID, what) ? SAID[what]! : what;
}

import { formatDuration } from '../../util/duration.js';
import { formatBytes, plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { AttemptView, Detail, FailureView, NamedText, PhaseView, UnitView } from '../view/types.js';
import { Inputs } from './inputs.js';
import { Section } from './section.js';
import type { PageSource } from './source.js';
import { Facts } from './table-parts.js';
import { Quoted } from './texts.js';
import { spentText, timeText } from './words.js';

interface TextsProps {
  readonly detail: Detail;
  readonly went: PhaseView | UnitView;
  readonly report: PageSource['report'];
}

export function DetailTexts({ detail, went, report }: TextsProps) {
  const isLeftOut = report?.outputs === false;
  return (
    <>
      {detail.failure && <Failed failure={detail.failure} />}
      {detail.questions.map(({ digest, text }, index) => (
        <Section key={digest + index} title="Question">
          {isLeftOut ? <LeftOut /> : <Quoted of={text} label="asked" exact />}
          <p class="none">
            digest <code>{digest.slice(0, 12)}</code>
          </p>
        </Section>
      ))}
      {detail.decisions.map(({ at, decision, by, note }) => (
        <p key={at} class="decision">
          {decision === 'approve' ? 'approved' : 'rejected'}
          {by === undefined ? '' : ` by ${oneLine(by)}`} at {timeText(at)}
          {note ? `: ${oneLine(note)}` : ''}
        </p>
      ))}
      {detail.inputs && <Inputs inputs={detail.inputs} hasItems={'units' in went && went.units.length > 0} />}
      <Asked detail={detail} went={went} isLeftOut={isLeftOut} />
      {detail.attempts.length > 0 && (
        <Section title={plural(detail.attempts.length, 'failed attempt')}>
          {detail.attempts.map((attempt, index) => (
            <Attempt key={index} attempt={attempt} />
          ))}
        </Section>
      )}
      <Said detail={detail} isLeftOut={isLeftOut} />
      <Files detail={detail} />
      {detail.observed && <Observed observed={detail.observed} />}
      {detail.unkeepable !== undefined && <p class="none">Not kept for later runs: {oneLine(detail.unkeepable)}</p>}
    </>
  );
}

function LeftOut() {
  return <p class="none">Contents were left out of this report (--no-outputs).</p>;
}

function Asked({
  detail,
  went,
  isLeftOut,
}: {
  readonly detail: Detail;
  readonly went: TextsProps['went'];
  readonly isLeftOut: boolean;
}) {
  if (isLeftOut) return null;
  if (detail.asked.length === 0) {
    if (went.hit === undefined) return null;
    return (
      <Section title="Asked">
        <p class="none">It was not asked this time.</p>
      </Section>
    );
  }
  const short = detail.asked.filter(isShort);
  return (
    <Section title={detail.askedThen ? 'Asked, when it was made' : 'Asked'}>
      {detail.asked
        .filter((each) => !isShort(each))
        .map(({ name, value }) => (
          <Quoted key={name} of={value} label={oneLine(name)} />
        ))}
      {short.length > 0 && <Facts of={short.map(({ name, value }) => [oneLine(name), oneLine(value.text)])} />}
    </Section>
  );
}

/** A setting rather than a text. */
function isShort({ name, value }: NamedText): boolean {
  return value.chars === undefined && value.text.length <= 60 && !/^(task|argv|shell|input|stdin)$/.test(name);
}

function Said({ detail, isLeftOut }: { readonly detail: Detail; readonly isLeftOut: boolean }) {
  const { said, saidFile, masked } = detail;
  if (isLeftOut) return <LeftOut />;
  if (!said || (said.text === '' && detail.failure)) return null;
  return (
    <Section title="Said">
      <Quoted of={said} label="output" />
      {saidFile && (
        <p class="none">
          All {formatBytes(saidFile.bytes)} are in <code>{saidFile.path}</code>
        </p>
      )}
      {masked && <p class="none">A secret was taken out of it.</p>}
    </Section>
  );
}

function Failed({ failure }: { readonly failure: FailureView }) {
  const { message, hint, detail, code } = failure;
  return (
    <div class="failed" role="note">
      <p>
        <strong>{oneLine(message)}</strong> {code !== '' && <span class="note">({code})</span>}
      </p>
      {hint !== undefined && <p class="none">{oneLine(hint)}</p>}
      {detail && detail.text !== '' && <Quoted of={detail} label="what it said" />}
    </div>
  );
}

function Attempt({ attempt }: { readonly attempt: AttemptView }) {
  const { durationMs, failure, partial, retryInMs, spent } = attempt;
  const facts = [formatDuration(durationMs), spentText(spent)].filter(Boolean).join(', ');
  const next = retryInMs === undefined ? '' : `; tried again after ${formatDuration(retryInMs)}`;
  return (
    <div class="attempt">
      <p>
        <span class="label">Attempt {attempt.attempt}</span> {oneLine(failure.message)}{' '}
        <span class="note">
          ({facts}
          {next})
        </span>
      </p>
      {partial && <Quoted of={partial} label="said before it failed" />}
    </div>
  );
}

const MOST_LISTED = 50;

function Files({ detail }: { readonly detail: Detail }) {
  if (detail.files.length === 0) return null;
  return (
    <Section title={plural(detail.files.length, 'file it wrote', 'files it wrote')}>
      <Paths paths={detail.files} />
    </Section>
  );
}

function Paths({ paths }: { readonly paths: readonly string[] }) {
  return (
    <ul class="paths">
      {paths.slice(0, MOST_LISTED).map((path) => (
        <li key={path}>
          <code>{oneLine(path)}</code>
        </li>
      ))}
      {paths.length > MOST_LISTED && <li class="none">and {paths.length - MOST_LISTED} more</li>}
    </ul>
  );
}

/** What its execution looked at, where the run observed it. */
function Observed({ observed }: { readonly observed: NonNullable<Detail['observed']> }) {
  const { reads, lists, absent, counts, complete, incomplete } = observed;
  const parts: readonly [string, readonly string[]][] = [
    ['read, not declared', reads],
    ['listed, not declared', lists],
    ['looked for, not there, not declared', absent],
  ];
  return (
    <Section title="What it looked at">
      {!complete && <p class="none">Not everything was seen{incomplete ? `: ${oneLine(incomplete)}` : ''}.</p>}
      {counts && (
        <p class="none">
          {counts.reads} read, {counts.lists} listed, {counts.absent} looked for and not there, {counts.writes} written
        </p>
      )}
      {parts
        .filter(([, paths]) => paths.length > 0)
        .map(([name, paths]) => (
          <div key={name}>
            <span class="label">{name}</span>
            <Paths paths={paths} />
          </div>
        ))}
    </Section>
  );
}

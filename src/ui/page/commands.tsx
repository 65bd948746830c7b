import { shellWord } from '../../util/shell-word.js';
import type { PhaseView, RunView, UnitView } from '../view/types.js';
import { Section } from './detail-texts.js';
import { CommandLine } from './texts.js';
import { outcomeOf } from './words.js';

interface CommandsProps {
  readonly run: RunView;
  readonly phase: PhaseView;
  readonly unit: UnitView | undefined;
}

/** What to type in a terminal for the same, or for more. */
export function Commands({ run, phase, unit }: CommandsProps) {
  const { runId, file, mode } = run;
  // A unit is named by the path of its phase, a blank and its own name.
  const path = unit ? unit.name.split(' ')[0]! : phase.id;
  const id = shellWord(path);
  const outcome = outcomeOf(phase);
  const commands: [string, string][] = [[`taskflow trace ${runId} ${id} --full`, 'all of it, with nothing cut']];
  if (phase.asks) {
    commands.unshift(
      [`taskflow approve ${runId} ${id}`, 'say yes'],
      [`taskflow reject ${runId} ${id} --note '…'`, 'say no, and why'],
    );
  }
  if (file !== undefined && mode === 'run') {
    const flow = shellWord(file);
    commands.push([`taskflow explain ${flow} ${shellWord(phase.id)}`, 'would it run again now, and why']);
    const again = outcome === 'failed' || outcome === 'unfinished' ? `taskflow resume ${runId}` : '';
    if (again !== '') commands.push([again, 'go on with this run']);
    else commands.push([`taskflow run ${flow} --rerun ${shellWord(phase.id)}`, 'run it again']);
  }
  return (
    <Section title="In a terminal">
      <ul class="commands">
        {commands.map(([command, does]) => (
          <CommandLine key={command} command={command} does={does} />
        ))}
      </ul>
    </Section>
  );
}

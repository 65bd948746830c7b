import { shellWord } from '../../util/shell-word.js';
import { visible } from '../../util/terminal-text.js';
import type { PhaseView, RunView, UnitView } from '../view/types.js';
import { Section } from './section.js';
import { CommandList } from './texts.js';
import { outcomeOf } from './words.js';

interface CommandsProps {
  readonly run: RunView;
  readonly phase: PhaseView;
  readonly unit: UnitView | undefined;
}

/** Commands that show the same in a terminal, or more. */
export function Commands({ run, phase, unit }: CommandsProps) {
  const commands = commandsFor({ run, phase, unit }).filter(([command]) => isHarmless(command));
  if (commands.length === 0) return null;
  return (
    <Section title="In a terminal">
      <CommandList of={commands} />
    </Section>
  );
}

/** A name with a line end or an escape in it would act on the terminal that it is pasted into. */
function isHarmless(command: string): boolean {
  return visible(command) === command && !/[\n\t]/.test(command);
}

function commandsFor({ run, phase, unit }: CommandsProps): [string, string][] {
  const { runId, file, mode } = run;
  // A unit is named by the path of its phase, a blank and its own name.
  const id = shellWord(unit ? unit.name.split(' ')[0]! : phase.id);
  const commands: [string, string][] = [[`taskflow trace ${runId} ${id} --full`, 'all of it, with nothing cut']];
  if (phase.asks) {
    commands.unshift(
      [`taskflow approve ${runId} ${id}`, 'say yes'],
      [`taskflow reject ${runId} ${id} --note '…'`, 'say no, and why'],
    );
  }
  if (file === undefined || mode !== 'run') return commands;
  const [flow, name, outcome] = [shellWord(file), shellWord(phase.id), outcomeOf(phase)];
  commands.push([`taskflow explain ${flow} ${name}`, 'would it run again now, and why']);
  if (outcome === 'failed' || outcome === 'unfinished')
    commands.push([`taskflow resume ${runId}`, 'go on with this run']);
  else if (outcome === 'ran' || outcome === 'reused')
    commands.push([`taskflow run ${flow} --rerun ${name}`, 'run it again']);
  return commands;
}

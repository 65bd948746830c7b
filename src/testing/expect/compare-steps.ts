import type { Step } from './steps.js';

/** The differences between the expected steps and the actual ones, a line each. */
export function compareSteps(
  wanted: readonly string[],
  steps: readonly Step[],
  was: Step['was'],
): readonly { readonly index?: number; readonly message: string }[] {
  const found = steps.filter((step) => step.was === was);
  const missing = wanted.flatMap((entry, index) => {
    if (found.some((step) => covers(entry, step)) && !spoils(entry, steps, was)) return [];
    return [{ index, message: `${entry} was not ${was}${instead(entry, steps, was)}` }];
  });
  const extra = found.filter((step) => !wanted.some((entry) => covers(entry, step)));
  const also = [...new Set(extra.map(nameOf))];
  return also.length === 0
    ? missing
    : [...missing, { message: `${also.join(', ')} ${also.length === 1 ? 'was' : 'were'} ${was} too` }];
}

/** `notes` covers all of its items and `review` all of its phases; `Tides/notes` covers those of one row. */
function covers(entry: string, { name, also, row }: Step): boolean {
  const names = [name, ...also].flatMap((each) => (row === undefined ? [each] : [each, `${row}/${each}`]));
  return names.some((each) => each === entry || each.startsWith(`${entry}[`) || each.startsWith(`${entry}/`));
}

/** A phase counts as reused only if all of it is. In a batch, rows may reuse what another row executed. */
function spoils(entry: string, steps: readonly Step[], was: Step['was']): boolean {
  return (
    was === 'reused' && steps.some((step) => step.was === 'executed' && step.row === undefined && covers(entry, step))
  );
}

function instead(entry: string, steps: readonly Step[], was: Step['was']): string {
  const others = steps.filter((step) => step.was !== was && covers(entry, step));
  if (others.length === 0) return '';
  const [first] = others;
  const what = others.length === 1 && nameOf(first!) === entry ? 'it' : others.map(nameOf).join(', ');
  return `: ${what} ${others.length === 1 ? 'was' : 'were'} ${first!.was}`;
}

function nameOf({ name, row }: Step): string {
  return row === undefined ? name : `${row}/${name}`;
}

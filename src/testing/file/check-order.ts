import type { Problems } from '../../check/problem.js';
import type { RawCase } from './schema.js';

/** Names are unique, `after` names a case, and cases do not follow each other in a circle. */
export function checkOrder(cases: readonly RawCase[], problems: Problems): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of cases.entries()) {
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    else {
      const message = `case ${before + 1} is called ${JSON.stringify(name)} too`;
      problems.error(['cases', index, 'name'], 'duplicate-case', { message, hint: 'give one of them another name' });
    }
  }
  for (const [index, { after }] of cases.entries()) {
    const path = ['cases', index, 'after'];
    if (after === undefined) continue;
    if (!first.has(after)) {
      const message = `there is no case ${JSON.stringify(after)}`;
      problems.error(path, 'unknown-case', { message, suggest: { name: after, known: first.keys() } });
    } else {
      const circle = circleFrom(cases[index]!, new Map(cases.map((each) => [each.name, each])));
      if (circle) problems.error(path, 'case-circle', `cases follow each other: ${circle.join(' → ')}`);
    }
  }
}

/** The circle from a case back to itself. */
function circleFrom(start: RawCase, byName: ReadonlyMap<string, RawCase>): readonly string[] | undefined {
  const way = [start.name];
  for (let at = start.after; at !== undefined; at = byName.get(at)?.after) {
    if (at === start.name) return [...way, at];
    // A circle that this case only leads to is reported at its own cases.
    if (way.includes(at)) return undefined;
    way.push(at);
  }
  return undefined;
}

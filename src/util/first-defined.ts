/** Calls the functions one after the other until one returns a value; undefined when none does. */
export async function firstDefined<T>(questions: Iterable<() => Promise<T | undefined>>): Promise<T | undefined> {
  for (const ask of questions) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  return undefined;
}

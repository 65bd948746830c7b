/** What a person types to go on with a batch. */
export function resumeCommand({ ref, over }: { readonly ref: string; readonly over?: string }): string {
  const quoted = [ref, over ?? 'FILE'].map((word) => (/^[\w./:@-]+$/.test(word) ? word : JSON.stringify(word)));
  return `taskflow batch ${quoted[0]} --over ${quoted[1]} --resume`;
}

/** True when the person's own arguments already decide what one of these flags decides. */
export function hasFlag(args: readonly string[] | undefined, ...flags: readonly string[]): boolean {
  return (args ?? []).some((argument) => flags.some((flag) => argument === flag || argument.startsWith(`${flag}=`)));
}

/** The flag with its value; nothing without one. */
export function flag(name: string, value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [name, value];
}

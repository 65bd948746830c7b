/** Names that reach into JavaScript's own objects: refused as names in flows, arguments and paths. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'] as const;
const FORBIDDEN_NAMES: ReadonlySet<unknown> = new Set(FORBIDDEN);

export function isForbiddenName(name: unknown): name is (typeof FORBIDDEN)[number] {
  return FORBIDDEN_NAMES.has(name);
}

export const FLOW_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]*$';
export const PHASE_ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_-]*$';
export const MAX_NAME_LENGTH = 100;

/** `cwd` values that are not paths. */
const CWD_WORDS = ['temp', 'dedicated', 'worktree'] as const;
type CwdWord = (typeof CWD_WORDS)[number];

export function isCwdWord(cwd: string): cwd is CwdWord {
  return (CWD_WORDS as readonly string[]).includes(cwd);
}

/** `NAME.test.yaml` holds tests of a flow and is not a flow. */
export function isTestFile(path: string): boolean {
  return /\.test\.ya?ml$/i.test(path);
}

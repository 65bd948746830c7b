/** What `git status --porcelain=v2 --branch -z` says. Paths are relative to the top of the repository. */
export interface GitStatus {
  /** The commit; empty before the first one. */
  readonly head: string;
  /** Everything that is not as in HEAD, tracked or not. */
  readonly paths: readonly string[];
  /** Repositories within this one: submodules at another commit, and repositories that git does not track. */
  readonly repositories: readonly string[];
}

/** Undefined when the text is not what it should be: a newer git, or an error among the lines. */
export function parseStatus(text: string): GitStatus | undefined {
  let head: string | undefined;
  const paths: string[] = [];
  const repositories: string[] = [];
  const records = text.split('\0');
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    if (record === '') continue;
    const type = record[0];
    if (type === '#') {
      const oid = /^# branch\.oid (.+)$/.exec(record)?.[1];
      if (oid !== undefined) head = oid === '(initial)' ? '' : oid;
      continue;
    }
    const path = pathOf(record);
    if (path === undefined) return undefined;
    // The original name of a renamed file is a record of its own.
    if (type === '2') paths.push(records[++i]!);
    if (path.endsWith('/')) repositories.push(path.slice(0, -1));
    else if (isSubmodule(record)) repositories.push(path);
    else paths.push(path);
  }
  return head === undefined ? undefined : { head, paths, repositories };
}

/** Number of fields before the path, by type of record. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };

function pathOf(record: string): string | undefined {
  let at = 0;
  for (let left = FIELDS[record[0]!]; left !== undefined && left > 0; left--) {
    at = record.indexOf(' ', at) + 1;
    if (at === 0) return undefined;
  }
  return at === 0 ? undefined : record.slice(at);
}

function isSubmodule(record: string): boolean {
  return record[0] !== '?' && record.split(' ', 3)[2]?.startsWith('S') === true;
}

/** What the process reports to its caller. Scripts depend on these numbers. */
export const EXIT = {
  success: 0,
  failed: 1,
  /** Wrong usage, or bad input: a flow, rows, an archive with problems. */
  usage: 2,
  blocked: 3,
  /** A person has to decide: an approval, or a side effect in doubt. */
  waiting: 4,
  overBudget: 5,
  frozenMiss: 6,
  /** A bug of ours. */
  internal: 70,
  /** `runs wait` gave up; the run goes on. As of timeout(1). */
  timeOver: 124,
  interrupted: 130,
} as const;

/** One difference between two identities. */
export interface Change {
  /** `fingerprints`, `body.task`, `agent.model` … */
  readonly field: string;
  /** For people: `input changed: file:package.json`. */
  readonly message: string;
}

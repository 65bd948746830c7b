/** A folder in which a unit works. */
export interface Entered {
  readonly path: string;
  /** Cleans up, where there is something to clean up; may leave a remark for the result. */
  leave?(): Promise<string | undefined>;
}

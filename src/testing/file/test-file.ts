import type { Flow } from '../../model/flow.js';
import type { Path } from '../../parse/locate.js';
import type { RawCase } from './schema.js';

/** A checked test file: its flow has no problems, and its cases name what exists. */
export interface TestFile {
  /** Absolute. */
  readonly file: string;
  /** The path from the project root, for messages. */
  readonly shown: string;
  readonly flow: TestedFlow;
  readonly cases: readonly TestCase[];
  /** Absolute; the folder of its recordings, whether or not it is there. */
  readonly recordings: string;
}

export interface TestedFlow {
  /** As written in the test file. */
  readonly ref: string;
  /** Absolute. */
  readonly file: string;
  readonly flow: Flow;
}

export interface TestCase extends RawCase {
  readonly line: number;
  /** Line of a place in the case. */
  lineOf(path: Path): number;
}

import type { Flow } from '../../model/flow.js';
import type { Path } from '../../parse/locate.js';
import type { RawCase } from './schema.js';

/** A checked test file: its flow is there and good, its cases name what exists. */
export interface TestFile {
  /** Absolute. */
  readonly file: string;
  /** As people see it: from the project root. */
  readonly shown: string;
  readonly flow: TestedFlow;
  readonly cases: readonly TestCase[];
  /** Absolute; the folder of its recordings, whether or not it is there. */
  readonly recordings: string;
}

export interface TestedFlow {
  /** As the test file says it. */
  readonly ref: string;
  /** Absolute. */
  readonly file: string;
  readonly flow: Flow;
}

export interface TestCase extends RawCase {
  readonly line: number;
  /** Of a place in the case. */
  lineOf(path: Path): number;
}

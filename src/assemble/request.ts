import type { JsonObject, JsonValue } from '../model/json.js';

/** What a flow is wanted for. */
export interface AssembleRequest {
  /** In words. */
  readonly task: string;
  /** JSON Schema of an object: its properties are the flow's arguments. */
  readonly input: JsonObject;
  /** JSON Schema of the flow's result. */
  readonly output: JsonObject;
  readonly examples: readonly Example[];
}

export interface Example {
  /** For messages. */
  readonly name: string;
  readonly input: JsonObject;
  /** The result that is wanted. Without it, and without `judge`, any result that fits the output schema is good. */
  readonly output?: JsonValue;
  /** In words: the criterion for a result that is not exactly `output`. */
  readonly judge?: string;
  /** Laid into the temporary folder in which the example is tried: text by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** How long and with what a flow is planned. */
export interface AssembleLimits {
  /** Flows that the planner may write, those of attempts that are continued included. */
  readonly maxRounds: number;
  /** For planning and trying together. Undefined: `DEFAULT_USD`, where the runner says what it costs. */
  readonly maxUSD?: number;
}

export const DEFAULT_ROUNDS = 6;
export const DEFAULT_USD = 2;

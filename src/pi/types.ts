/** Types alone: at run time the extension is one file. */

/** As `taskflow list --json` says it. */
export type SavedFlow = Readonly<Record<'flow' | 'from', string>> & { readonly description?: string };

/** As `taskflow runs --json` says it. */
export type ListedRun = Readonly<Record<'runId' | 'state', string>> & { readonly continues: string | null };

/** What is used of pi. */
export interface Pi {
  registerTool(tool: object): void;
  registerCommand(
    name: string,
    command: {
      readonly description: string;
      readonly handler: (line: string, ctx: Context) => Promise<void>;
      readonly getArgumentCompletions?: (prefix: string) => { readonly value: string; readonly label: string }[];
    },
  ): void;
  on(event: string, handler: (event: unknown, ctx: Context) => void | Promise<void>): void;
  sendMessage(message: { readonly customType: string; readonly content: string; readonly display: boolean }): void;
}

export interface Context {
  readonly cwd: string;
  /** False where there is no person to ask: `pi -p`, `--mode json`. */
  readonly hasUI: boolean;
  readonly ui: {
    confirm(title: string, message: string, options?: { readonly signal?: AbortSignal }): Promise<boolean>;
    setWidget(key: string, lines: string[] | undefined): void;
  };
}

/** Its id, what is asked, how it is ended, who is told on the way, and where. */
export type ToolCall = [string, Asked, AbortSignal | undefined, ((partial: ToolResult) => void) | undefined, Context];

export interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly details: unknown;
}

/** Each type has some of them. */
export interface RunEvent extends Readonly<Record<'type' | 'flow' | 'phase' | 'status' | 'text', string>> {
  readonly runId: string | null;
  readonly phases: readonly { readonly id: string }[];
  readonly result?: string;
  readonly outcome: Outcome;
  readonly spent?: { readonly usd: number | null };
  readonly error?: { readonly message: string; readonly hint?: string };
}

export interface Outcome {
  readonly status: string;
  readonly cacheHit: string | null;
  readonly output: { readonly text: string; readonly file?: { readonly path: string } };
}

/** What a model asks the tool for. */
export interface Asked {
  readonly action: string;
  readonly flow?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly run?: string;
  readonly phase?: string;
}

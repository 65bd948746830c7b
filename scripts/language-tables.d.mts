type JsonSchema = Readonly<Record<string, unknown>>;
export function withTables(page: string, schema: JsonSchema): string;
export function languageTables(schema: JsonSchema): Record<string, string>;
/** The module that holds the digest of the language. */
export function digestModule(schema: unknown): string;

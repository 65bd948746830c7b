type JsonSchema = Readonly<Record<string, unknown>>;
export function withTables(page: string, schema: JsonSchema): string;
export function languageTables(schema: JsonSchema): Record<string, string>;

/** The published JSON Schema of flow files, as it is written to a file. */
export async function flowSchemaText(): Promise<string> {
  const { flowJsonSchema } = await import('../../model/schema/published.js');
  return `${JSON.stringify(flowJsonSchema(), null, 2)}\n`;
}

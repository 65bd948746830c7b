/** The published JSON Schema of flow files, as it is written to a file. */
export async function flowSchemaText(): Promise<string> {
  const { flowJsonSchema } = await import('../../model/schema/published.js');
  return `${JSON.stringify(flowJsonSchema(), null, 2)}\n`;
}

/** The same for settings files. */
export async function configSchemaText(): Promise<string> {
  const { configJsonSchema } = await import('../../config/json-schema.js');
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** The same for test files. */
export async function testSchemaText(): Promise<string> {
  const { testJsonSchema } = await import('../../testing/file/schema.js');
  return `${JSON.stringify(testJsonSchema(), null, 2)}\n`;
}

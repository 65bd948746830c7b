import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { isJsonObject } from '../model/json.js';
import { readCalled, shortAnswer } from './answer.js';
import { LANGUAGE } from './guide.js';
import type { McpHost } from './host.js';
import { shellLine } from './line.js';

const JSON_TYPE = 'application/json';

/** What a client can read without calling a tool. Runs and flows are shortened as in answers; the language is not. */
export function registerResources(server: McpServer, lend: () => Promise<McpHost>): void {
  const title = 'The flow language';
  server.registerResource('language', 'taskflow://language', { title, mimeType: 'text/markdown' }, ({ href }) => {
    return { contents: [{ uri: href, mimeType: 'text/markdown', text: LANGUAGE }] };
  });
  const schema = { title: 'JSON Schema of flows (large)', mimeType: 'application/schema+json' };
  server.registerResource('schema', 'taskflow://schema', schema, async ({ href }) => {
    const { stdout } = await (await lend()).call(['schema']);
    return { contents: [{ uri: href, mimeType: schema.mimeType, text: stdout }] };
  });
  const printed = async (uri: string, args: readonly string[]) => {
    const read = readCalled(await (await lend()).call(args));
    if ('problem' in read) throw new ResourceNotFoundError(uri, read.problem);
    const value = isJsonObject(read.json) ? read.json : { items: read.json };
    const { text } = shortAnswer({ value, whole: shellLine(args) });
    return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
  };
  const lists = [
    { name: 'flows', title: 'Flows of this project', args: ['list', '--json'] },
    { name: 'runs', title: 'The last runs', args: ['runs', '--json'] },
  ];
  for (const { name, title: heading, args } of lists) {
    const config = { title: heading, mimeType: JSON_TYPE };
    server.registerResource(name, `taskflow://${name}`, config, ({ href }) => printed(href, args));
  }
  const template = new ResourceTemplate('taskflow://runs/{run}', { list: undefined });
  server.registerResource('run', template, { title: 'One run', mimeType: JSON_TYPE }, ({ href }, { run }) => {
    return printed(href, ['runs', 'show', '--json', '--', String(run)]);
  });
}

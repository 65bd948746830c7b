import { DEFAULT_VALUES } from './defaults.js';
import { type JsonSchema, RUNNER_NAME, RUNNER_SETTINGS, SETTINGS, type Setting, SHORT_KEYS } from './settings.js';

/** The settings file as JSON Schema, for editors: made from the same list that the checker uses. Draft 7. */
export function configJsonSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'urn:taskflow:config',
    title: 'taskflow settings',
    description: 'Settings of a project (.pi/taskflows/config.yaml) or of a user (~/.pi/agent/taskflows/config.yaml).',
    ...groupSchema('', SETTINGS, { runners: runnersSchema() }),
  };
}

/** Everything under a prefix such as `` or `cache.`. An empty group is allowed. */
function groupSchema(prefix: string, settings: readonly Setting[], more: JsonSchema = {}): JsonSchema {
  const names = new Set(
    settings.flatMap(({ key }) => (key.startsWith(prefix) ? [key.slice(prefix.length).split('.')[0]!] : [])),
  );
  const fixed = [...names].filter((name) => name !== 'NAME');
  const properties = Object.fromEntries(fixed.map((name) => [name, schemaOf(prefix + name, settings)]));
  const any = names.has('NAME') ? schemaOf(`${prefix}NAME`, settings) : false;
  return { type: ['object', 'null'], properties: { ...properties, ...more }, additionalProperties: any };
}

function schemaOf(key: string, settings: readonly Setting[]): JsonSchema {
  const setting = settings.find((candidate) => candidate.key === key);
  if (setting) return described(setting);
  const group = groupSchema(`${key}.`, settings);
  const short = SHORT_KEYS.get(key);
  return short === undefined ? group : { anyOf: [schemaOf(short, settings), group] };
}

function described({ key, help, read }: Setting): JsonSchema {
  const standard = DEFAULT_VALUES.find((value) => value.key === key)?.value;
  return { description: help, ...(standard === undefined ? {} : { default: standard }), ...read.schema };
}

function runnersSchema(): JsonSchema {
  const description = 'Runners by name: settings for pi, claude and codex, and others of your own';
  const runner = groupSchema('', RUNNER_SETTINGS);
  // Draft 7 checks patterns as they are in ECMAScript.
  const propertyNames = { pattern: RUNNER_NAME.source };
  return { description, type: ['object', 'null'], propertyNames, additionalProperties: runner };
}

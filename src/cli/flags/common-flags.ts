import type { FlagSpec } from './flag-spec.js';

export function jsonFlag(help: string): FlagSpec {
  return { name: 'json', type: 'boolean', help };
}

/** Arguments of a flow. */
export const ARG_FLAGS: readonly FlagSpec[] = [
  { name: 'arg', alias: 'a', type: 'list', value: 'K=V', help: 'an argument of the flow' },
  { name: 'args-file', type: 'string', value: 'FILE', help: 'arguments from a JSON or YAML file' },
];

/** For commands that send keys. */
export const ALLOW_KEY_FLAG: FlagSpec = {
  name: 'allow-key',
  type: 'list',
  value: 'NAME=URL',
  help: 'the key in this variable may go to this address, though the project chose it',
};

export const OTEL_FLAG: FlagSpec = {
  name: 'otel',
  type: 'string',
  value: 'URL',
  optionalValue: /^https?:\/\//,
  help: 'send the run as a trace to an OpenTelemetry collector, when it has ended (http://localhost:4318)',
};

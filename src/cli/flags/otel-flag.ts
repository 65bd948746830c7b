import type { FlagSpec } from './flag-spec.js';

export const OTEL_FLAG: FlagSpec = {
  name: 'otel',
  type: 'string',
  value: 'URL',
  optionalValue: /^https?:\/\//,
  help: 'send the run as a trace to an OpenTelemetry collector, when it has ended (http://localhost:4318)',
};

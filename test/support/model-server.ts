export type { Step } from './model-server/script.js';
export { USAGE } from './model-server/script.js';
export { type ModelServer, startModelServer } from './model-server/server.js';
export type { ModelCall } from './model-server/wire.js';

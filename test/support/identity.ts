import { type Identity, KEY_VERSION } from '../../src/memo/identity.js';

/** An identity of a script without inputs, but for what the test says. */
export function makeIdentity(more: Partial<Identity> = {}): Identity {
  return {
    version: KEY_VERSION,
    flow: 'f',
    phase: 'p',
    kind: 'script',
    body: {},
    agent: null,
    env: {},
    context: [],
    output: 'text',
    expect: null,
    cwd: '.',
    fingerprints: [],
    upstream: [],
    outputs: [],
    ordinal: 0,
    ...more,
  };
}

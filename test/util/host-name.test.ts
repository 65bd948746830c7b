import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { hostName } from '../../src/util/host-name.js';

test('the host has the name that Node gives it: claims and runs of other versions are known by it', () => {
  expect(hostName()).toBe(hostname());
});

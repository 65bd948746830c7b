import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeActionResult, encodeActionResult } from '../../src/remote/action-result.js';

const digest = 'ab'.repeat(32);

it('the bytes are those of Bazel’s message', () => {
  const bytes = encodeActionResult({
    stdout: Buffer.from('out'),
    stderr: Buffer.from('err'),
    files: [{ path: 'a.txt', digest, bytes: 300 }],
  });
  // output_files { path: "a.txt" digest { hash: "abab…" size_bytes: 300 } } stdout_raw: "out" stderr_raw: "err"
  const inner = `0a40${Buffer.from(digest).toString('hex')}10ac02`;
  const file = `0a05${Buffer.from('a.txt').toString('hex')}1245${inner}`;
  expect(bytes.toString('hex')).toBe(`124e${file}2a036f75743a03657272`);
});

it('what is encoded is decoded again, whatever other fields a server adds', () => {
  const file = fc.record({ path: fc.string({ minLength: 1 }), digest: fc.constant(digest), bytes: fc.nat(2 ** 40) });
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.array(file), (stdout, stderr, files) => {
      const result = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), files };
      const exitCode = Buffer.from([0x20, 0x01]);
      const fixed = Buffer.from([0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x55, 1, 2, 3, 4]);
      expect(decodeActionResult(Buffer.concat([exitCode, encodeActionResult(result), fixed]))).toEqual(result);
    }),
  );
});

it('bytes that are no message, or half of one, are refused and never throw', () => {
  const whole = encodeActionResult({ stdout: Buffer.from('x'.repeat(300)), stderr: Buffer.from('y'), files: [] });
  for (let length = 1; length < 303; length++) expect(decodeActionResult(whole.subarray(0, length))).toBeUndefined();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      decodeActionResult(Buffer.from(bytes));
    }),
  );
});

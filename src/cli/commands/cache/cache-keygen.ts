import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { newKeyPair } from '../../../remote/trust.js';
import { whyUnwritableAt } from '../../../util/why-unwritable.js';
import type { Command } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';

export const command: Command = {
  usage: '[--out FILE] [--json]',
  description: `Makes a pair of keys for a shared cache. The private key signs what is uploaded and belongs only where
the code is trusted, such as the jobs of the main branch. The public key goes into the settings of everybody.`,
  examples: [
    { command: 'taskflow cache keygen --out signing.pem', does: 'the private key in a file of your own' },
    { command: 'taskflow cache keygen | gh secret set TASKFLOW_SIGNING_KEY', does: 'straight into a secret of the CI' },
  ],
  flags: [
    { name: 'out', alias: 'o', type: 'string', value: 'FILE', help: 'where to write the private key; a new file' },
    jsonFlag('as JSON: {privateKey, publicKey, keyId}'),
  ],
  positionals: [],
  async run(invocation) {
    const { flags, out, err, cwd } = invocation;
    const { privateKey, publicKey, keyId } = newKeyPair();
    const file = flags.string('out');
    if (file !== undefined) {
      const path = resolve(cwd, file);
      try {
        writeFileSync(path, privateKey, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
        return complain(
          invocation,
          `${file} ${isThere ? 'is there already' : `cannot be written: ${whyUnwritableAt(path, error as Error)}`}`,
        );
      }
    }
    if (flags.boolean('json')) {
      const written = file === undefined ? { privateKey } : { file };
      out.write(`${JSON.stringify({ ...written, publicKey, keyId })}\n`);
      return EXIT.success;
    }
    if (file === undefined) out.write(privateKey);
    err.write(`private key ${keyId.slice(0, 4)}…: ${file ?? 'above'}; a secret of the jobs that may write
  cache: { trust: { sign: { env: TASKFLOW_SIGNING_KEY } } }
public key: into the settings of the project, for everybody
  cache: { trust: { keys: { ci: "${publicKey}" } } }
`);
    return EXIT.success;
  },
};

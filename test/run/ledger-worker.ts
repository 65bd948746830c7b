import { holderIdentity } from '../../src/process/process-identity.js';
import { LedgerFile } from '../../src/run/effects/ledger-file.js';

/** Wants to start each of thirty side effects, says which ones it was granted, and makes the ledger grow meanwhile. */
const [folder = '', worker = ''] = process.argv.slice(2);
const ledger = new LedgerFile(folder, 'f');
const owner = holderIdentity();
const noise = Array.from({ length: 400 }, (_, index) => `${worker}-nothing-of-anybody-${index}`);

for (let round = 0; round < 30; round++) {
  const name = { args: 'a', phase: `s${round}` };
  const id = `${worker}.${round}`;
  const problem = ledger.append({ type: 'start', id, ...name, at: 1, run: worker, flow: 'f', owner });
  if (problem !== undefined) throw new Error(problem);
  if (ledger.read().get(name)?.id === id) {
    process.stdout.write(`granted ${name.phase}\n`);
    ledger.append({ type: 'done', id });
  }
  ledger.append({ type: 'closed', ids: noise });
  ledger.tidy();
}

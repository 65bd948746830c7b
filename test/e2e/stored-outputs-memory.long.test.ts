import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { measuredOutput, measuredRun } from '../support/measured-cli.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

/** With TASKFLOW_FULL=1 a gigabyte, otherwise a fifth of it. */
const FULL = process.env['TASKFLOW_FULL'] === '1';
const WRITTEN_MB = FULL ? 1_024 : 200;
const MOST_MB = FULL ? 300 : 170;
const MOST_JOURNAL_BYTES = 100_000;

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write('.pi/taskflows/config.yaml', 'limits: { outputBytes: 2GB }\n');
});
afterEach(() => rig.remove());

const PRINT = `head -c ${WRITTEN_MB}M /dev/zero | tr '\\0' x`;
const write = (phases: object[]) => rig.write('flow.json', JSON.stringify({ name: 'large', phases }));
const digestOf = (command: string) => execFileSync('sh', ['-c', `{ ${command}; } | sha256sum`], { encoding: 'utf8' });

const linux = process.platform === 'linux' ? describe : describe.skip;

linux('a large output is in a file and not in memory', { timeout: 180_000 }, () => {
  it('of a script: memory and journal stay small, and the file has every byte', async () => {
    write([{ id: 'a', type: 'script', run: PRINT }]);
    const { result, peak, journalBytes } = await measuredRun(rig.root, ['./flow.json']);
    const { outputFile, output } = phaseOf(result, 'a');
    expect(outputFile?.bytes).toBe(WRITTEN_MB * 1_024 * 1_024);
    expect(digestOf(PRINT)).toContain(outputFile!.digest);
    expect(digestOf(`cat '${rig.root}/${outputFile!.path}'`)).toContain(outputFile!.digest);
    expect(output).toMatch(/^x{4000}/);
    expect(output).toContain(outputFile!.path);
    expect(peak).toBeLessThan(MOST_MB);
    expect(journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
  });

  it('printed as the result of the run: streamed from its file', async () => {
    write([{ id: 'a', type: 'script', run: PRINT }]);
    const { digest, peak } = await measuredOutput(rig.root, ['./flow.json', '--quiet']);
    expect(digestOf(`${PRINT}; echo`)).toContain(digest);
    expect(peak).toBeLessThan(MOST_MB);
  });

  it('of 50 MB through ten phases: memory below three of it, each content in one file', async () => {
    const print = "head -c 50000000 /dev/zero | tr '\\0' y";
    const phases: object[] = [{ id: 'p0', type: 'script', run: print, cache: { scope: 'cross-run' } }];
    for (let n = 1; n < 10; n += 1) {
      const input = `{steps.p${n - 1}.output}`;
      phases.push({ id: `p${n}`, type: 'script', run: `cat; printf ${n}`, input, cache: { scope: 'cross-run' } });
    }
    write(phases);
    const cold = await measuredRun(rig.root, ['./flow.json']);
    expect(cold.result.status).toBe('success');
    expect(phaseOf(cold.result, 'p9').outputFile?.bytes).toBe(50_000_009);
    expect(cold.peak).toBeLessThan(150);
    expect(cold.journalBytes).toBeLessThan(MOST_JOURNAL_BYTES);
    const outputs = `${rig.root}/.pi/taskflows/runs/${cold.result.runId}/outputs`;
    expect(readdirSync(outputs)).toHaveLength(10);
    // The run and the cache have the same bytes under two names: nothing is written a second time.
    const written = execFileSync('du', ['-sk', `${rig.root}/.pi`], { encoding: 'utf8' });
    expect(Number.parseInt(written, 10)).toBeLessThan(520_000);
    const warm = await measuredRun(rig.root, ['./flow.json']);
    expect(warm.result.reuse).toEqual({ executed: 0, run: 0, crossRun: 10 });
    expect(warm.peak).toBeLessThan(150);
  });
});

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { runCli } from '../support/cli.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';
import { STRACE } from '../support/traced.js';

const BYTES = 2_000_000;
const WHOLE = 'w'.repeat(BYTES);

let rig: Rig;
let elsewhere: string;
beforeEach(() => {
  rig = createRig();
  elsewhere = join(rig.root, '../elsewhere');
  rig.write(
    'flow.json',
    JSON.stringify({
      name: 'large',
      args: { topic: { default: 'x' } },
      phases: [
        {
          id: 'big',
          type: 'script',
          run: ['sh', '-c', `bin/tick big > /dev/null; head -c ${BYTES} /dev/zero | tr '\\0' w`, '{args.topic}'],
          cache: { scope: 'cross-run' },
        },
      ],
    }),
  );
});
afterEach(() => rig.remove());

const cli = (args: readonly string[], cwd = rig.root) => runCli(args, { cwd });

/** The project on another machine: its sources, and nothing of what its runs made. */
function copied(): void {
  mkdirSync(join(elsewhere, '.pi/taskflows'), { recursive: true });
  cpSync(join(rig.root, 'flow.json'), join(elsewhere, 'flow.json'));
  cpSync(join(rig.root, 'bin'), join(elsewhere, 'bin'), { recursive: true });
}

async function json(args: readonly string[], cwd?: string): Promise<RunResult> {
  const { stdout, stderr } = await cli([...args, '--json'], cwd);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as RunResult;
}

describe('a large output', { timeout: 60_000 }, () => {
  it('goes with the cache in an archive, which is refused without it', async () => {
    await json(['run', './flow.json']);
    copied();
    expect((await cli(['cache', 'verify'])).status).toBe(0);
    await cli(['cache', 'export', join(elsewhere, 'cache.tgz')]);
    expect((await cli(['cache', 'import', 'cache.tgz'], elsewhere)).status).toBe(0);
    const result = await json(['run', './flow.json'], elsewhere);
    expect(phaseOf(result, 'big').cacheHit).toBe('cross-run');
    expect(readFileSync(join(elsewhere, result.outputFile!.path), 'utf8')).toBe(WHOLE);
    expect(rig.counts()).toEqual({ big: 1 });
    // The collection of garbage knows that an entry needs it.
    await cli(['cache', 'gc'], elsewhere);
    expect(phaseOf(await json(['run', './flow.json'], elsewhere), 'big').cacheHit).toBe('cross-run');
  });

  it('goes with a checkpoint', async () => {
    const { runId } = await json(['run', './flow.json']);
    copied();
    expect((await cli(['checkpoint', 'export', runId, '--out', join(elsewhere, 'run.json')])).status).toBe(0);
    rmSync(join(rig.root, '.pi/taskflows/runs'), { recursive: true });
    const result = await json(['run', './flow.json', '--resume-from', 'run.json'], elsewhere);
    expect(phaseOf(result, 'big').cacheHit).toBe('run');
    expect(readFileSync(join(elsewhere, result.outputFile!.path), 'utf8')).toBe(WHOLE);
    expect(rig.counts()).toEqual({ big: 1 });
  });

  it('is shown by its beginning, with the file that holds it', async () => {
    const { runId, outputFile, checkpoint } = await json(['run', './flow.json']);
    const trace = await cli(['trace', runId, '--full']);
    expect(trace.stdout).toContain(outputFile!.path);
    expect(trace.stdout.length).toBeLessThan(10_000);
    const shown = await cli(['runs', 'show', runId, '--json']);
    expect(JSON.parse(shown.stdout).phases[0].output).toMatchObject({
      text: expect.stringMatching(/^w{4000}/),
      file: outputFile,
    });
    // Under its declared key is what it looked at where it was observed; the result is the entry of a run.
    const declared = checkpoint.keys['big']!;
    const entries: { key: string; runId: string }[] = JSON.parse((await cli(['cache', 'list', '--json'])).stdout);
    const results = entries.filter((listed) => listed.runId === runId);
    expect(results).toHaveLength(1);
    const entry = await cli(['cache', 'show', results[0]!.key]);
    expect(entry.stdout).toContain('1.9 MB');
    expect(entry.stdout.length).toBeLessThan(10_000);
    if (STRACE) {
      const paths = await cli(['cache', 'show', declared]);
      expect(paths.stdout).toMatch(/looks at +bin\/tick\nno result: /);
    }
    const events = await cli(['run', './flow.json', '--events']);
    const end = events.stdout.split('\n').find((line) => line.includes('"phase-end"'));
    expect(JSON.parse(end!).outcome.output.file).toMatchObject({ digest: outputFile!.digest, bytes: BYTES });
  });

  it('of a row is its file in the folder of --out', async () => {
    rig.write('rows.csv', 'topic\na\n');
    const { status, stderr } = await cli(['batch', './flow.json', '--over', 'rows.csv', '--out', 'out']);
    expect([status, stderr]).toEqual([0, expect.anything()]);
    const name = readdirSync(join(rig.root, 'out')).find((file) => file.endsWith('.md'));
    expect(readFileSync(join(rig.root, 'out', name!), 'utf8')).toBe(`${WHOLE}\n`);
  });
});

import { join } from 'node:path';
import { relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { differencesOf } from '../expect/compare.js';
import type { TestCase, TestFile } from '../file/test-file.js';
import { TemporaryProjects } from '../project/temporary-projects.js';
import { CaseCalls } from '../recordings/recorded-runner.js';
import type { Recordings } from '../recordings/recordings.js';
import { type Chain, chainsOf } from './chains.js';
import type { CaseReport, FileReport, TestReport } from './report.js';
import { type CaseOptions, runCase } from './run-case.js';

/** A checked test file with its recordings. */
export interface Tested {
  readonly file: TestFile;
  /** One object for all test files that share a folder. */
  readonly recordings: Recordings;
  /** A test file that does not run uses the same folder, so unused recordings cannot be known. */
  readonly shared: boolean;
}

interface SuiteOptions extends CaseOptions {
  /** Only cases whose name has this in it. */
  readonly only?: string;
  /** Chains of cases at once. */
  readonly jobs?: number;
  /** Called with each file when all its cases have ended, in order. */
  readonly onFile?: (report: FileReport) => void;
  /** Gets a function that removes all temporary folders at once, for a process that ends early. */
  readonly onCleanup?: (removeAll: () => void) => void;
}

/** Runs all cases of all files. Never throws: failures are in the report. */
export async function runSuite(
  project: Project,
  tested: readonly Tested[],
  options: SuiteOptions = {},
): Promise<TestReport> {
  const startedAt = project.clock.elapsed();
  const projects = new TemporaryProjects(project, options.signal);
  options.onCleanup?.(() => projects.removeAll());
  const suite = new Suite(project, projects, options);
  try {
    await suite.run(tested);
  } finally {
    projects.removeAll();
  }
  return suite.report(tested, Math.round(project.clock.elapsed() - startedAt));
}

const DEFAULT_JOBS = 4;

class Suite {
  readonly #cases = new Map<TestCase, CaseReport>();
  #usd: number | undefined = 0;

  constructor(
    private readonly project: Project,
    private readonly projects: TemporaryProjects,
    private readonly options: SuiteOptions,
  ) {}

  async run(tested: readonly Tested[]): Promise<void> {
    const jobs = tested.flatMap((each) => this.#chains(each).map((chain) => ({ tested: each, chain })));
    const left = new Map(tested.map((each) => [each, this.#chains(each).length]));
    let shown = 0;
    const tell = () => {
      for (; shown < tested.length && left.get(tested[shown]!) === 0; shown++) {
        this.options.onFile?.(this.#file(tested[shown]!));
      }
    };
    tell();
    let next = 0;
    const work = async () => {
      for (let job = jobs[next++]; job; job = jobs[next++]) {
        await this.#runChain(job.chain, job.tested);
        left.set(job.tested, left.get(job.tested)! - 1);
        tell();
      }
    };
    // Equal calls of several cases are recorded once, by the first of them.
    const isReplay = tested.every(({ recordings }) => recordings.mode === 'replay');
    const workers = isReplay ? (this.options.jobs ?? DEFAULT_JOBS) : 1;
    await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, work));
  }

  report(tested: readonly Tested[], durationMs: number): TestReport {
    const files = tested.map((each) => this.#file(each));
    const cases = files.flatMap((file) => file.cases);
    const count = (status: CaseReport['status']) => cases.filter((each) => each.status === status).length;
    const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
    const isInterrupted = this.options.signal?.aborted === true;
    const isGood = failed + skipped === 0 && !isInterrupted;
    const folders = new Map(tested.map((each) => [each.recordings, each]));
    const made = [...folders.keys()].reduce((sum, recordings) => sum + recordings.made, 0);
    const whole = this.options.only === undefined && !isInterrupted ? [...folders.values()] : [];
    const unused: string[] = [];
    const removed: string[] = [];
    for (const { recordings, shared } of whole) {
      if (shared) continue;
      // After a failure, a recording may be unused only because its call was not reached.
      const removes = recordings.mode === 'record' && isGood;
      const names = (removes ? recordings.removeUnused() : recordings.unused()).map(({ file }) =>
        this.#shown(recordings, file),
      );
      (removes ? removed : unused).push(...names);
    }
    const status = isInterrupted ? 'interrupted' : isGood ? 'passed' : 'failed';
    return {
      status,
      passed,
      failed,
      skipped,
      durationMs,
      files,
      recordings: { made, usd: this.#usd ?? null, unused, removed },
    };
  }

  #shown({ folder }: Recordings, file: string): string {
    return relativePath(this.project.root, join(folder, file));
  }

  #chains({ file }: Tested): readonly Chain[] {
    const only = this.options.only?.toLowerCase();
    return chainsOf(file.cases, ({ name }) => only === undefined || name.toLowerCase().includes(only));
  }

  #file({ file }: Tested): FileReport {
    const cases = file.cases.flatMap((test) => this.#cases.get(test) ?? []);
    return { file: file.shown, flow: file.flow.flow.name, cases };
  }

  async #runChain(chain: Chain, tested: Tested): Promise<void> {
    let stopped: string | undefined;
    let temporary: Awaited<ReturnType<TemporaryProjects['open']>> | undefined;
    for (const { test, reported } of chain) {
      if (this.options.signal?.aborted) stopped = 'interrupted';
      temporary ??= stopped === undefined ? await this.projects.open() : undefined;
      const report = stopped === undefined ? await this.#runCase(test, tested, temporary!) : skipped(test, stopped);
      if (reported) this.#cases.set(test, report);
      if (report.status === 'failed') stopped = `it follows ${JSON.stringify(test.name)}, which failed`;
    }
    if (temporary) this.projects.close(temporary);
  }

  async #runCase(
    test: TestCase,
    { file, recordings }: Tested,
    temporary: Awaited<ReturnType<TemporaryProjects['open']>>,
  ): Promise<CaseReport> {
    const { clock } = this.project;
    const startedAt = clock.elapsed();
    const calls = new CaseCalls(recordings);
    const run = await runCase(test, { file, original: this.project, temporary, calls, options: this.options });
    const durationMs = Math.round(clock.elapsed() - startedAt);
    this.#usd = this.#usd === undefined || calls.usd === undefined ? undefined : this.#usd + calls.usd;
    if (this.options.signal?.aborted) return skipped(test, 'interrupted');
    const differences =
      'problem' in run ? [{ what: 'run', line: test.line, message: run.problem }] : differencesOf(test, run);
    const unrecorded = calls.unrecorded.map(({ nearest, ...call }) => ({
      ...call,
      ...(nearest && { nearest: { ...nearest, file: this.#shown(recordings, nearest.file) } }),
    }));
    const status = differences.length + unrecorded.length === 0 ? 'passed' : 'failed';
    return { name: test.name, line: test.line, status, durationMs, calls: calls.count, differences, unrecorded };
  }
}

function skipped({ name, line }: TestCase, reason: string): CaseReport {
  return { name, line, status: 'skipped', durationMs: 0, calls: 0, differences: [], unrecorded: [], reason };
}

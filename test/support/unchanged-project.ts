import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shareCompiledCode } from './clean-environment.js';
import { CLI, type CliResult, cliEnvironment, createTestProject } from './cli.js';

/** The command without its engine: it can answer nothing but a run in which nothing changed. */
const ALONE = mkdtempSync(join(tmpdir(), 'taskflow-alone-'));
for (const name of ['taskflow', 'unchanged', 'git', 'glob']) {
  cpSync(join(dirname(CLI), `${name}.cjs`), join(ALONE, `${name}.cjs`));
}

/** A project whose derived files may be believed: they are not in the project. */
export function createUnchangedProject(files: Readonly<Record<string, string>>) {
  const project = createTestProject(files);
  const cache = mkdtempSync(join(tmpdir(), 'taskflow-derived-'));
  const env = { XDG_CACHE_HOME: cache };
  shareCompiledCode(cache);
  const projects = join(cache, 'taskflow/projects');
  return {
    root: project.root,
    write: project.write,
    run: (args: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Promise<CliResult> =>
      project.run(['run', './flow.yaml', ...args], { env: { ...env, ...more } }),
    taskflow: (args: readonly string[]): Promise<CliResult> => project.run(args, { env }),
    /** Whether the snapshot answers: by the part of the command that can do nothing else. */
    isAnswered(args: readonly string[] = [], more: Readonly<Record<string, string>> = {}): boolean {
      const { root } = project;
      const argv = [join(ALONE, 'taskflow.cjs'), 'run', './flow.yaml', ...args];
      const run = spawnSync(process.execPath, argv, {
        cwd: root,
        env: cliEnvironment(root, { ...env, ...more }) as NodeJS.ProcessEnv,
        encoding: 'utf8',
      });
      if (run.status !== 0 && !run.stderr.includes('run.cjs')) throw new Error(run.stderr);
      return run.status === 0;
    },
    snapshots(): string[] {
      return listed(projects).filter((path) => path.endsWith('.snapshot'));
    },
    /** All but the list of the user's own runs, which decides what is continued. */
    forgetDerived() {
      for (const path of listed(projects)) {
        if (statSync(path).isFile() && !path.endsWith('own-runs.txt')) rmSync(path);
      }
    },
    journal: (runId: string) => readFileSync(join(project.root, '.pi/taskflows/runs', runId, 'journal.jsonl'), 'utf8'),
    executions(): number {
      try {
        return readFileSync(join(project.root, 'log'), 'utf8').split('\n').length - 1;
      } catch {
        return 0;
      }
    },
    remove() {
      project.remove();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

export type UnchangedProject = ReturnType<typeof createUnchangedProject>;

function listed(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
}

/** Without what differs between any two runs: ids, times, ages, durations. */
export function withoutTimes(text: string): string {
  return text
    .replaceAll(/\d{8}-\d{6}-[0-9a-z]{6}/g, 'RUN')
    .replaceAll(/"(at|ageMs|madeAt|durationMs|pid|startTicks)":[\d.]+/g, '"$1":0')
    .replaceAll(/age [\dhms. ]+[hms]/g, 'age T')
    .replaceAll(/after [\d.]+m?s/g, 'after T')
    .replaceAll(/ \+[\d.]+m?s/g, ' +T');
}

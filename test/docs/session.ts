import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shareCompiledCode } from '../support/clean-environment.js';
import { CLI, cliEnvironment, INSTALLED } from '../support/cli.js';

/** A reader with an empty git repository, taskflow installed, and a program that answers like an agent. */
export interface Session {
  readonly root: string;
  write(path: string, text: string): void;
  type(command: string): Promise<{ readonly status: number | null; readonly said: string; readonly stdout: string }>;
  /** How many times the agent was asked. */
  calls(): number;
  remove(): void;
}

/** Counts its calls and answers in the form that the prompt asks for, else with a sentence. */
const AGENT = `#!/bin/sh
echo call >> "$HOME/calls"
case "$(cat)" in
  *'Write a flow for the program taskflow'*)
    echo '{"phases": [{"id": "review", "task": "Review this line: {args.line}"}]}' ;;
  *VERDICT*) echo 'VERDICT: PASS' ;;
  *WINNER*) echo 'WINNER: 1' ;;
  *'JSON list of phases'*) echo '[{"id": "one", "task": "Say one."}]' ;;
  *'JSON object'*) echo '{"steps": []}' ;;
  *) echo 'Line 1 is fine.' ;;
esac
`;

export async function openSession(): Promise<Session> {
  const base = mkdtempSync(join(tmpdir(), 'taskflow-docs-'));
  const root = join(base, 'project');
  const home = join(base, 'home');
  const put = (path: string, text: string, mode?: number) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: mode ?? 0o644 });
  };
  put(join(base, 'bin/taskflow'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, 0o755);
  put(join(base, 'bin/agent'), AGENT, 0o755);
  put(
    join(home, '.pi/agent/taskflows/config.yaml'),
    `runner: scripted\nrunners:\n  scripted: { command: [${join(base, 'bin/agent')}], model: m }\n`,
  );
  put(
    join(home, '.gitconfig'),
    '[user]\n\tname = Reader\n\temail = reader@example.org\n[init]\n\tdefaultBranch = main\n',
  );
  put(join(home, 'calls'), '');
  shareCompiledCode(join(home, '.cache'));
  mkdirSync(root);
  symlinkSync(join(INSTALLED, 'node_modules'), join(base, 'node_modules'));
  const { PATH, ...rest } = cliEnvironment(root, { HOME: home });
  const env = { ...rest, PATH: `${join(base, 'bin')}:${dirname(process.execPath)}:${PATH}` } as NodeJS.ProcessEnv;
  const session: Session = {
    root,
    write: (path, text) => put(join(root, path), text),
    type: (command) => shell(command, { cwd: root, env }),
    calls: () => readFileSync(join(home, 'calls'), 'utf8').split('\n').length - 1,
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
  await session.type('git init -q');
  return session;
}

function shell(command: string, where: { cwd: string; env: NodeJS.ProcessEnv }): ReturnType<Session['type']> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], { ...where, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    const all: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void all.push(chunk));
    child.on('error', reject);
    // What a shell tells of a command that a signal has ended.
    child.on('close', (code, signal) =>
      resolve({
        status: signal === null ? code : 128 + constants.signals[signal],
        said: Buffer.concat(all).toString(),
        stdout: Buffer.concat(out).toString(),
      }),
    );
  });
}

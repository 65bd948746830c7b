/**
 * An agent whose provider has a usage limit: from its first call on, for so many ms, it answers that the limit is
 * reached. Each call leaves two lines in `calls`: `begin TIME` and `end TIME refused|answered`.
 */
export function limitedAgent({ ms, resetsAt = 'until', workMs = 0 }: LimitedAgent): string {
  return `#!/usr/bin/env node
import('node:fs').then(({ appendFileSync, readFileSync, writeFileSync }) => {
  const begun = Date.now();
  try { writeFileSync('until', String(begun + ${ms}), { flag: 'wx' }); } catch {}
  const until = Number(readFileSync('until', 'utf8'));
  appendFileSync('calls', 'begin ' + begun + '\\n');
  const end = (how) => appendFileSync('calls', 'end ' + Date.now() + ' ' + how + '\\n');
  if (begun < until) {
    end('refused');
    const error = { message: 'enough for now', resetsAt: ${resetsAt} };
    console.log(JSON.stringify({ error, usage: { inputTokens: 1, usd: 0.01 } }));
  } else setTimeout(() => {
    end('answered');
    console.log(JSON.stringify({ text: 'answered', usage: { inputTokens: 2, usd: 0.02 } }));
  }, ${workMs});
});
`;
}

interface LimitedAgent {
  readonly ms: number;
  /** What it says, as JavaScript. */
  readonly resetsAt?: string;
  readonly workMs?: number;
}

export const LIMITED_CONFIG =
  'runner: limited\nrunners:\n  limited: { command: [bin/limited], format: json, model: rig-1 }\n';

export function readCalls(text: string): { refused: number; answered: number; lines: CallLine[] } {
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .map(([what = '', time, how]) => ({ what, time: Number(time), how }));
  const count = (how: string) => lines.filter((line) => line.how === how).length;
  return { refused: count('refused'), answered: count('answered'), lines };
}

interface CallLine {
  readonly what: string;
  readonly time: number;
  readonly how: string | undefined;
}

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ParseError, parse as parseJsonc } from 'jsonc-parser';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/boot/registry.js';
import { commandsOf, fileNameOf, PAGES, type Step, stepsOf } from './pages.js';
import { openSession, type Session } from './session.js';

const { scripts } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8')) as {
  scripts: Record<string, string>;
};

/** What a comment behind a command says of its output, word for word. */
const CLAIMS = /CACHED|first time|would run|continuing run|input changed: [^\s;)]+/g;

let session: Session;
afterEach(() => session?.remove());

const withBlocks = PAGES.filter((page) => stepsOf(page).length > 0);

describe('what a page says can be typed, in its order, in an empty repository', () => {
  it.each(withBlocks)('%s', { timeout: 180_000 }, async (page) => {
    session = await openSession();
    const steps = stepsOf(page);
    for (const step of steps) await follow(step, `${page}:${step.line}`);
    for (const step of steps) expectToBeRun(step, steps);
  });
});

async function follow(step: Step, place: string): Promise<void> {
  if (step.type === 'hidden') await typed(step.text, { place });
  else if (step.language === 'sh') for (const line of commandsOf(step.text)) await command(line, { place, ...step });
  else if (step.language === 'yaml') await yaml(step.text, { place, ...step });
  else if (step.language === 'json' || step.language === 'jsonc') json(step, place);
  else if (fileNameOf(step.text) !== undefined) session.write(fileNameOf(step.text)!, step.text);
  else if (!step.shown && step.language !== 'text') throw new Error(`${place}: nobody knows how to try this block`);
}

/** A flow with a name is run by the commands of its page. */
function expectToBeRun(flow: Step, steps: readonly Step[]): void {
  const file = flow.type === 'block' && !flow.shown && /^phases:/m.test(flow.text) && fileNameOf(flow.text);
  if (!file) return;
  const commands = steps.filter((step) => step.type === 'block' && step.language === 'sh' && !step.shown);
  const uses = commands.filter(({ text }) => new RegExp(`taskflow (run|batch|test) ${file}`).test(text));
  expect(uses, `nobody runs ${file}`).not.toEqual([]);
}

async function typed(text: string, { place, status = 0 }: { place: string; status?: number }): Promise<void> {
  const result = await session.type(text);
  if (result.status !== status) {
    throw new Error(`${place}: "${text.trim()}" ended with ${result.status}, not ${status}\n${result.said}`);
  }
  for (const [words] of /\s#(.*)$/.exec(text)?.[1]?.matchAll(CLAIMS) ?? []) {
    expect(result.said, `${place}: ${text}`).toContain(words);
  }
}

interface Where {
  readonly place: string;
  readonly shown: boolean;
}

async function command(line: { command: string; status: number }, { place, shown }: Where): Promise<void> {
  if (!shown) return typed(line.command, { place, status: line.status });
  for (const [, name] of line.command.matchAll(/npm (?:run )?(start|test(?::\w+)?|bench|picture|build|lint)\b/g)) {
    expect(scripts, place).toHaveProperty([name!]);
  }
  for (const [, words] of line.command.matchAll(/(?:^|[|&;] *)taskflow ([^|;&#]*)/g)) await knownFlags(words!, place);
}

/** A command that cannot be run here exists all the same, and so do its flags. */
async function knownFlags(words: string, place: string): Promise<void> {
  const [first = '', second = ''] = words.trim().split(/\s+/);
  const names = COMMANDS.map(({ name }) => name);
  const name = names.includes(`${first} ${second}`) ? `${first} ${second}` : first;
  expect(names, place).toContain(name);
  const help = (await session.type(`taskflow ${name} --help`)).stdout;
  for (const [flag] of words.matchAll(/(?<=\s)--[a-z-]+/g)) expect(help, `${place}: ${flag}`).toContain(flag);
}

/** Checks a flow, warnings included, or reads settings. Keeps them for the blocks that follow, unless only shown. */
async function yaml(text: string, { place, shown }: Where): Promise<void> {
  if (/^- uses:/m.test(text)) return; // A step of a workflow.
  const fragment = text.startsWith('- id:');
  const settings = !fragment && !/^(phases|task|tasks|chain|cases):/m.test(text);
  const file = fileNameOf(text) ?? (settings ? '.pi/taskflows/config.yaml' : 'fragment.yaml');
  const target = shown ? await openSession() : session;
  const given = `${place} (${file})`;
  target.write(file, fragment ? `phases:\n${text.replaceAll(/^(?=.)/gm, '  ')}` : text);
  const result = await target.type(settings ? 'taskflow config list' : `taskflow check --strict ./${file}`);
  if (shown) target.remove();
  if (result.status !== 0) throw new Error(`${given} has problems:\n${result.said}`);
  if (fragment) await typed(`taskflow run ./${file} --yes --fresh`, { place: given });
}

function json(step: Step, place: string): void {
  const errors: ParseError[] = [];
  for (const line of step.type === 'block' && /^\{.*\}\n\{/.test(step.text) ? step.text.split('\n') : [step.text]) {
    if (line.trim() !== '') parseJsonc(line, errors, { allowTrailingComma: true });
  }
  expect(errors, place).toEqual([]);
}

import { resolve } from 'node:path';
import { isFlowPath } from '../check/find-flow.js';
import type { RepeatRequest } from '../run/options.js';
import { FOLDER, type Seen } from '../run/repeat/seen.js';
import { askedFor, readSheet, sheetPath, writeSheet } from '../run/repeat/sheet.js';
import { type Standing, standing } from '../run/repeat/standing.js';
import type { Invocation } from './command.js';
import { printResult, showingRun, wantsReports } from './show-run.js';

/** A run of which the command line says all: asked for again, it can be answered from its sheet. */
export interface Asked {
  readonly ref: string;
  readonly text: string;
  readonly path: string;
  readonly since: number;
}

/** With any other flag the run is more, or less, than the flow as it stands. */
const HARMLESS = new Set([
  'json',
  'events',
  'quiet',
  'arg',
  'frozen',
  'fresh',
  'keep-going',
  'yes',
  'color',
  'no-color',
  'cwd',
]);

/** From here on, comparing and telling is over before optimizing it has paid; of 500 it costs 2 ms to say so. */
const MANY_RECORDS = 700;

export function repeatable(invocation: Invocation): Asked | undefined {
  const { flags, positionals, project, cwd } = invocation;
  if (wantsReports(invocation) || !flags.given().every((name) => HARMLESS.has(name))) return undefined;
  if (flags.boolean('json') && flags.boolean('events')) return undefined;
  const [ref, ...pairs] = positionals as [string, ...string[]];
  const flow = isFlowPath(ref) ? resolve(cwd, ref) : ref;
  const text = askedFor(project, flow, [...flags.list('arg'), ...pairs]);
  return { ref, text, path: sheetPath(project, text), since: project.clock.now() };
}

/** The exit status of a run in which nothing has changed; else nothing has happened, and this is what is known. */
export async function repeatUnchanged(
  invocation: Invocation,
  { ref, text, path }: Asked,
): Promise<{ readonly status: number } | (Standing & { readonly status?: undefined })> {
  const sheet = readSheet(path, text);
  if (!sheet) return {};
  const { project } = invocation;
  if (sheet.records.count >= MANY_RECORDS) invocation.onMuchWork?.();
  const found = await standing(sheet, project);
  if (!found.sheet) return found;
  const { repeatRun } = await import('../run/repeat/repeat-run.js');
  const showing = showingRun(invocation);
  const result = repeatRun({ project, ref, sheet: found.sheet, frozen: invocation.flags.boolean('frozen') }, showing);
  showing.end();
  if (found.moved) {
    const { head, records } = found.moved;
    writeSheet(path, { head, outline: found.sheet.outline }, records.all());
  }
  return { status: printResult(invocation, result) };
}

/** What is known of the phases, if the flow and the settings that are run with are those that it is known of. */
export function standingPhases(known: Standing, looked: RepeatRequest['looked']): Standing['phases'] {
  const digests = new Map(looked.map(({ path, digest }) => [path.replace(/\/$/, ''), digest]));
  const isSame = ({ path, digest }: Seen) => digest === FOLDER || digests.get(path) === digest;
  return known.phases && known.files?.every(isSame) ? known.phases : undefined;
}

export function repeatRequest({ path, text, since }: Asked, looked: RepeatRequest['looked']): RepeatRequest {
  return { path, asked: text, since, looked };
}

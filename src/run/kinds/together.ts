import type { Failure } from '../../model/failure.js';
import type { JsonValue } from '../../model/json.js';
import { INLINE_BYTES } from '../../model/limits.js';
import { type Output, StoredOutput } from '../../model/output.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import type { OutputSink } from '../core/output-sink.js';
import { chunksOf, outputBytes, readJson, readText, textPieces } from '../core/output-text.js';

type Said = Output | { readonly failure: Failure };

/**
 * What the units of a phase say together, and the list of their values: in memory while that is small, else written to
 * files piece by piece. With `names`, each has a title, and the values are an object.
 */
export function together(at: PhaseContext, units: readonly Settled[], names?: readonly string[]): Said {
  const size = units.reduce((sum, { result }) => sum + outputBytes(result.output), 0);
  if (size <= INLINE_BYTES) return inMemory(at, units, names);
  const { outputs } = at.run.io;
  const text = written(outputs.sink(), texts(units, names));
  if (!(text instanceof StoredOutput)) return 'failure' in text ? text : inMemory(at, units, names);
  const json = written(outputs.sink({ limit: Number.MAX_SAFE_INTEGER, inline: 0 }), values(at, units, names));
  if (json instanceof StoredOutput) return text.withJson(json.stored);
  return 'failure' in json ? json : inMemory(at, units, names);
}

function inMemory(at: PhaseContext, units: readonly Settled[], names?: readonly string[]): Said {
  const said: string[] = [];
  const all: JsonValue[] = [];
  for (const {
    result: { output },
  } of units) {
    const text = readText(output);
    const value = listedValue(at, output);
    if ('failure' in text) return text;
    if ('failure' in value) return value;
    said.push(`${titleOf(said.length, names)}${text.text}`);
    all.push(value.value);
  }
  const json = names ? Object.fromEntries(all.map((value, index) => [names[index]!, value])) : all;
  return { text: said.join(BETWEEN), json };
}

const BETWEEN = '\n\n';

function titleOf(index: number, names: readonly string[] | undefined): string {
  return names ? `## ${names[index]}\n` : '';
}

/** What a unit adds to a list: its JSON where it has some, else its text. Where JSON is promised, null is a value. */
function listedValue({ phase }: PhaseContext, output: Output): { readonly value: JsonValue } | { failure: Failure } {
  if (isJson(output)) {
    const read = readJson(output);
    return 'failure' in read ? read : { value: read.json ?? null };
  }
  if (phase.output === 'json') return { value: output.json };
  const read = readText(output);
  return 'failure' in read ? read : { value: read.text };
}

function isJson(output: Output): boolean {
  return output instanceof StoredOutput ? output.stored.json !== undefined : output.json !== null;
}

function written(sink: OutputSink, pieces: Iterable<Buffer | string>): Said {
  try {
    for (const chunk of inChunks(pieces)) {
      const failure = sink.add(chunk);
      if (failure) return { failure };
    }
    return sink.end();
  } catch (error) {
    sink.discard();
    return { failure: { code: 'io', message: `the output of an item cannot be read: ${(error as Error).message}` } };
  }
}

const CHUNK = 64 * 1024;

/** Short texts together: writing each of a hundred thousand by itself would take longer than reading them did. */
function* inChunks(pieces: Iterable<Buffer | string>): Generator<Buffer> {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    if (typeof piece === 'string' && text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
    if (typeof piece !== 'string') yield piece;
  }
  yield Buffer.from(text);
}

function* texts(units: readonly Settled[], names: readonly string[] | undefined): Generator<Buffer | string> {
  for (const [index, unit] of units.entries()) {
    const { output } = unit.result;
    yield `${index === 0 ? '' : BETWEEN}${titleOf(index, names)}`;
    if (output instanceof StoredOutput) yield* chunksOf(output.file);
    else yield output.text;
  }
}

function* values(
  at: PhaseContext,
  units: readonly Settled[],
  names: readonly string[] | undefined,
): Generator<Buffer | string> {
  yield names ? '{' : '[';
  for (const [index, unit] of units.entries()) {
    const { output } = unit.result;
    yield `${index === 0 ? '' : ','}${names ? `${JSON.stringify(names[index])}:` : ''}`;
    if (!(output instanceof StoredOutput)) {
      yield JSON.stringify(at.phase.output === 'json' ? output.json : (output.json ?? output.text));
    } else if (output.stored.json) {
      yield* chunksOf(output.jsonFile);
    } else {
      yield '"';
      for (const piece of textPieces(output.file)) yield JSON.stringify(piece).slice(1, -1);
      yield '"';
    }
  }
  yield names ? '}' : ']';
}

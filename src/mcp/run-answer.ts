import type { JsonObject, JsonValue } from '../model/json.js';

/** The state of a run, with what to do next, which people read on the terminal. */
export function runState(json: JsonValue): JsonObject {
  const { phases, ...run } = json as JsonObject;
  const next = nextStep(run);
  return {
    ...run,
    ...(next !== undefined && { next }),
    ...(phases !== undefined && { phases: (phases as JsonObject[]).map(readable) }),
  };
}

/** The fields of a phase that an agent can use: no key, no empty fields, no output twice. */
function readable({ key: _, output, cacheHit, files, usage, ...phase }: JsonObject): JsonObject {
  const { text, json } = (output ?? {}) as JsonObject;
  const { usd, inputTokens, outputTokens } = (usage ?? {}) as JsonObject;
  return {
    ...phase,
    ...(cacheHit && { cacheHit }),
    ...(output && { output: json === null ? { text: text! } : { json: json! } }),
    ...((files as JsonValue[] | undefined)?.length && { files: files! }),
    ...((usd || inputTokens || outputTokens) && { usage: usage! }),
  };
}

function nextStep({ runId, state, continuedBy, waiting, limit }: JsonObject): string | undefined {
  if (continuedBy) return `it went on as run ${continuedBy}: see that one`;
  const asked = ((waiting ?? []) as JsonObject[]).find(({ decided }) => !decided);
  switch (state) {
    case 'running':
      return `wait_run with run ${runId} waits for its end`;
    case 'paused':
      if (limit) return `the provider's usage limit is reached: resume_run with run ${runId} goes on once it is reset`;
      if (asked) return `a person has to decide: call approve with run ${runId} and phase ${asked['phase']}`;
      return waiting && (waiting as JsonValue[]).length > 0
        ? `it is decided: resume_run with run ${runId} goes on`
        : `a person has to decide in a terminal: taskflow runs show ${runId}`;
    case 'failed':
    case 'blocked':
    case 'over-budget':
      return `trace_run shows why; after a repair, resume_run with run ${runId} keeps what is done`;
    case 'interrupted':
    case 'crashed':
      return `resume_run with run ${runId} goes on with what is done`;
    default:
      return undefined;
  }
}

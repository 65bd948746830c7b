// Runs the graph with LangGraph in this process, as its parent asks: open, clean, run.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const require = createRequire(`${process.argv[2]}/package.json`);
const { Annotation, START, StateGraph } = require('@langchain/langgraph');
const { InMemoryCache } = require('@langchain/langgraph-checkpoint');

const State = Annotation.Root({
  texts: Annotation({ reducer: (texts, more) => texts.concat(more), default: () => [] }),
});

let graph;
let commands;
let compiled;

/** A phase is reused while its own input and the texts that it follows are the same. */
function cachePolicy({ id, needs }) {
  return {
    keyFunc: ([state]) => {
      const seen = needs.length === 0 ? [] : state.texts.slice(-needs.length);
      return createHash('sha256')
        .update(JSON.stringify([id, readFileSync(`in/${id}.txt`, 'utf8'), seen]))
        .digest('hex');
    },
  };
}

function compile() {
  const builder = new StateGraph(State);
  for (const phase of graph.phases) {
    const [program, ...args] = commands[phase.id];
    const body = async () => ({ texts: [(await execute(program, args)).stdout.trimEnd()] });
    builder.addNode(phase.id, body, { cachePolicy: cachePolicy(phase) });
  }
  for (const { id, needs } of graph.phases) {
    builder.addEdge(needs.length === 0 ? START : needs.length === 1 ? needs[0] : needs, id);
  }
  return builder.compile({ cache: new InMemoryCache() });
}

async function answer(request) {
  if (request.type === 'open') ({ graph, commands } = request);
  if (request.type !== 'run') {
    compiled = compile();
    return {};
  }
  const started = performance.now();
  await compiled.invoke({ texts: [] }, { recursionLimit: graph.size + 10, maxConcurrency: 8 });
  return { ms: performance.now() - started };
}

process.on('message', async (request) => {
  try {
    process.send(await answer(request));
  } catch (error) {
    process.send({ failed: String(error?.message ?? error) });
  }
});

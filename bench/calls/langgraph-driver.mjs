// `node langgraph-driver.mjs PEER_DIR URL TOPICS AT_ONCE`: a graph of six nodes, run for each topic.
import { createRequire } from 'node:module';
import { ask, eachOf, openAgent } from './ask.cjs';
import { questionOf, STEPS, topicsOf } from './topics.cjs';

const [dir, url, topics, atOnce] = process.argv.slice(2);
const require = createRequire(`${dir}/package.json`);
const { Annotation, END, START, StateGraph } = require('@langchain/langgraph');

const agent = openAgent(true, Number(atOnce));
const builder = new StateGraph(Annotation.Root({ topic: Annotation(), before: Annotation() }));
STEPS.forEach((step, index) => {
  builder.addNode(step, async ({ topic, before }) => ({
    before: await ask({ url, agent }, questionOf(step, topic, before)),
  }));
  builder.addEdge(index === 0 ? START : STEPS[index - 1], step);
});
builder.addEdge(STEPS.at(-1), END);
const graph = builder.compile();
await eachOf(topicsOf(Number(topics)), Number(atOnce), (topic) => graph.invoke({ topic }));
agent.destroy();

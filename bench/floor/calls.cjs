// The floor of many calls: `node calls.cjs URL TOPICS AT_ONCE [new-connections]` asks six questions about each topic,
// over connections that are kept, and does nothing else.
const { ask, eachOf, openAgent } = require('../calls/ask.cjs');
const { STEPS, questionOf, topicsOf } = require('../calls/topics.cjs');

const [url, topics, atOnce, connections] = process.argv.slice(2);
const agent = openAgent(connections !== 'new-connections', Number(atOnce));

eachOf(topicsOf(Number(topics)), Number(atOnce), async (topic) => {
  let answer;
  for (const step of STEPS) answer = await ask({ url, agent }, questionOf(step, topic, answer));
}).then(() => agent.destroy());

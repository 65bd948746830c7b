// The work of the `calls` workload: six questions about a topic, each about the answer to the one before.
const STEPS = ['outline', 'facts', 'draft', 'critique', 'rewrite', 'title'];

const questionOf = (step, topic, before) =>
  before === undefined ? `Write the ${step} for ${topic}.` : `Write the ${step} for ${topic}, from this:\n${before}`;

const topicsOf = (count) => Array.from({ length: count }, (_, i) => `topic ${i}`);

module.exports = { STEPS, questionOf, topicsOf };

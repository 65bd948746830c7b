// A model server on loopback, in a process of its own. `/MODE/DELAY/chat/completions`: MODE is `whole` or `stream`,
// DELAY how many milliseconds an answer takes. It counts the calls, so that nobody can leave some out.
const http = require('node:http');

const PIECES = 12;
const WORDS = 'The sea rises and the shore gives way, slowly and then all at once; '.repeat(6);
const USAGE = { prompt_tokens: 40, completion_tokens: 100 };
let calls = 0;

const server = http.createServer((request, response) => {
  const [, mode, delay] = request.url.split('/');
  request.resume();
  request.on('end', () => {
    calls += 1;
    if (mode === 'stream') stream(response, Number(delay), `Answer ${calls}. ${WORDS}`);
    else setTimeout(() => whole(response, `Answer ${calls}. ${WORDS}`), Number(delay), undefined);
  });
});
server.keepAliveTimeout = 60_000;

function whole(response, content) {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  const body = JSON.stringify({ id: 'a', model: 'small', choices, usage: USAGE });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** A piece at a time, evenly spread over the delay, as a model speaks. */
function stream(response, delay, content) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const size = Math.ceil(content.length / PIECES);
  for (let i = 0; i < PIECES; i += 1) {
    const delta = { role: 'assistant', content: content.slice(i * size, (i + 1) * size) };
    const last = i === PIECES - 1;
    const text = event([{ index: 0, delta, finish_reason: null }]);
    const end = `${event([{ index: 0, delta: {}, finish_reason: 'stop' }])}${event([], USAGE)}data: [DONE]\n\n`;
    setTimeout(() => (last ? response.end(text + end) : response.write(text)), ((i + 1) * delay) / PIECES);
  }
}

function event(choices, usage = null) {
  return `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', model: 'small', choices, usage })}\n\n`;
}

process.on('message', () => {
  process.send({ calls });
  calls = 0;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, ModelCall, Protocol, SseEvent } from './wire.js';

/** Writes one answer the way its step says: streamed or whole, slowly, cut off, never, or not what was asked for. */
export async function sendAnswer(
  response: ServerResponse,
  protocol: Protocol,
  call: ModelCall,
  answer: Answer,
): Promise<void> {
  const { step } = answer;
  if (step.pauseMs > 0) await pause(step.pauseMs);
  if (step.end === 'garbage') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html><body>Welcome to the captive portal</body></html>');
  } else if (call.stream) {
    await sendStream(response, protocol, answer);
  } else if (step.end === 'cut') {
    response.socket?.destroy();
  } else if (step.end !== 'hang') {
    sendJson(response, 200, protocol.whole(answer));
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function sendStream(response: ServerResponse, protocol: Protocol, answer: Answer): Promise<void> {
  const { step } = answer;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const events = protocol.events(answer);
  const whole = step.end !== 'cut' && step.end !== 'hang' && step.end !== 'stream-error';
  const middle = Math.min(3, events.length - 1);
  for (const event of events.slice(0, middle)) writeEvent(response, event);
  if (step.pauseMs > 0) await pause(step.pauseMs);
  if (whole) {
    for (const event of events.slice(middle)) writeEvent(response, event);
    response.end();
  } else if (step.end === 'stream-error') {
    writeEvent(response, protocol.streamError);
    response.end();
  } else if (step.end === 'cut') {
    // What was written leaves first; then the connection is lost, not closed.
    await pause(20);
    response.socket?.destroy();
  }
}

function writeEvent(response: ServerResponse, { event, data }: SseEvent): void {
  if (event !== undefined) response.write(`event: ${event}\n`);
  response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
}

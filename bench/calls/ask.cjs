// One question to the model server, as a plain program asks it. Everybody but taskflow asks this way.
const http = require('node:http');

/** @param {boolean} keepAlive @param {number} atOnce */
const openAgent = (keepAlive, atOnce) => new http.Agent({ keepAlive, maxSockets: atOnce });

/**
 * @param {{ url: string, agent: import('node:http').Agent }} server @param {string} content
 * @returns {Promise<string>}
 */
function ask({ url, agent }, content) {
  const body = JSON.stringify({ model: 'small', messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')).choices[0].message.content));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Runs `work` on every element, so many at once. */
async function eachOf(list, atOnce, work) {
  let next = 0;
  const worker = async () => {
    while (next < list.length) await work(list[next++]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

module.exports = { ask, eachOf, openAgent };

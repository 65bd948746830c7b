// The scripted model as a program: `node test/support/model-server/serve.mjs [PORT]`. Prints its address as one JSON
// line.
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('./server.ts', import.meta.url))],
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
});
const { startModelServer } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
);
const server = await startModelServer(Number(process.argv[2] ?? 0));
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);

import { build } from 'esbuild';
import { ROOT, WORK } from '../lib/paths.mjs';
import { talkTo } from './client.mjs';

/** Calls commands in one process and says how long each took in there, with what it prints. */
const DRIVER = `
import { callCommand } from './src/cli/boot/call.ts';
import { projectAt } from './src/cli/load/project.ts';
const project = await projectAt(process.cwd());
for await (const line of (await import('node:readline')).createInterface({ input: process.stdin })) {
  const started = performance.now();
  const { status, stdout } = await callCommand(JSON.parse(line), { project, cwd: process.cwd() });
  console.log(JSON.stringify({ status, bytes: stdout.length, ms: performance.now() - started }));
}`;

/** @param {string} cwd */
export async function startInProcess(cwd) {
  const outfile = `${WORK}/in-process.mjs`;
  await build({
    stdin: { contents: DRIVER, resolveDir: ROOT, loader: 'ts' },
    ...{ bundle: true, platform: 'node', target: 'node20', format: 'esm', minify: true, outfile },
    external: ['*/mcp/serve.js'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    mainFields: ['module', 'main'],
    logLevel: 'error',
  });
  return talkTo(['node', outfile], cwd);
}

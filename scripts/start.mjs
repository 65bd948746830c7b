// `npm start`: the report about this repository. Says what to do where nothing has been built yet.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../dist/taskflow.cjs', import.meta.url));
if (existsSync(command)) {
  // In this very process, so that Ctrl-C reaches the run and its exit status is ours.
  process.argv.splice(1, 1, command, 'run', 'flows/repo-report.yaml');
  createRequire(import.meta.url)(command);
} else {
  process.stderr.write('taskflow has not been built yet (was it installed with --ignore-scripts?)\n');
  process.stderr.write('  build it with: npm run build\n');
  process.exitCode = 1;
}

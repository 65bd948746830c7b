import { cpus, platform, release, totalmem } from 'node:os';

/** The machine in one line: enough to compare runs, nothing that names it. */
export function describeMachine() {
  const processors = cpus();
  const model = processors[0]?.model.trim() || 'unknown processor';
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${processors.length} cores (${model}), ${memory} GiB, ${platform()} ${release()}, Node ${process.version}`;
}

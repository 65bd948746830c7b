import { cpus, loadavg, platform, release, totalmem } from 'node:os';

const LOAD_AT_START = loadavg()[0] ?? 0;

/** The machine in one line: enough to compare runs, nothing that names it. A load above 0.5 spoils the numbers. */
export function describeMachine() {
  const processors = cpus();
  const model = processors[0]?.model.trim() || 'unknown processor';
  const memory = Math.round(totalmem() / 1024 ** 3);
  const load = LOAD_AT_START.toFixed(1);
  const system = `${platform()} ${release()}, Node ${process.version}`;
  return `${processors.length} cores (${model}), ${memory} GiB, ${system}, load ${load} before`;
}

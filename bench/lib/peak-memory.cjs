// Preloaded (`node -r`) into a measured program: leaves its highest resident size, in KiB, in a file when it ends.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => writeFileSync(process.env.BENCH_PEAK_FILE, String(peakKiB())));

function peakKiB() {
  // What getrusage says also counts the parent's memory at the fork; this does not.
  if (process.platform === 'linux') return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  return process.resourceUsage().maxRSS;
}

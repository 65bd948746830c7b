// Preloaded (`node -r`) into a measured program: leaves its processor time and its highest resident size in a file.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(
    process.env.BENCH_USAGE_FILE,
    JSON.stringify({ cpuMs: (user + system) / 1000, peakMb: peakKiB() / 1024 }),
  );
});

function peakKiB() {
  // What getrusage says also counts the parent's memory at the fork; this does not.
  if (process.platform === 'linux') return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  return process.resourceUsage().maxRSS;
}

import { contractOf } from '../shared/contract.js';
import { INSTALLED, startServer } from './start-server.js';

contractOf('a server of Turborepo’s artifacts', async () => {
  const { port, stop } = await startServer((onPort, folder) => ({
    argv: [process.execPath, `${INSTALLED}/turborepo-remote-cache/dist/cli.js`],
    env: {
      PORT: `${onPort}`,
      HOST: '127.0.0.1',
      TURBO_TOKEN: 'right',
      STORAGE_PROVIDER: 'local',
      STORAGE_PATH: folder,
      LOG_LEVEL: 'fatal',
      NODE_ENV: 'production',
    },
  }));
  const remote = { url: `turbo+http://127.0.0.1:${port}?slug=team`, token: { env: 'TURBO_TOKEN' } };
  return {
    remote,
    env: { TURBO_TOKEN: 'right' },
    strangers: { remote, env: { TURBO_TOKEN: 'wrong' } },
    stop,
  };
});

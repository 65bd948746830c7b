import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe } from 'vitest';
import { contractOf } from '../shared/contract.js';
import { isThere, startServer } from './start-server.js';

/** Apache's WebDAV honours the conditions of a PUT: a real server that can hold leases. */
const MODULES = '/usr/lib/apache2/modules';
const loaded = (name: string) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`;
const SETTINGS = (port: number, folder: string) => `
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/errors
DefaultRuntimeDir ${folder}
${process.geteuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
${['mpm_event', 'authz_core', 'dav', 'dav_fs', 'setenvif'].map(loaded).join('\n')}
DavLockDB ${folder}/state/locks
DocumentRoot ${folder}/files
SetEnvIf Authorization "^Bearer right$" trusted
<Location />
  Dav On
  <LimitExcept GET HEAD>
    Require env trusted
  </LimitExcept>
</Location>
`;

const start = async () => {
  const { port, stop } = await startServer((onPort, folder) => {
    // WebDAV makes no folders. Started by root, Apache becomes a user that has to get there.
    for (const path of ['files/team/ac', 'files/team/cas', 'state']) {
      mkdirSync(join(folder, path), { recursive: true });
      chmodSync(join(folder, path), 0o777);
    }
    for (const path of [dirname(folder), folder]) chmodSync(path, statSync(path).mode | 0o011);
    writeFileSync(join(folder, 'apache.conf'), SETTINGS(onPort, folder));
    return { argv: ['apache2', '-X', '-d', folder, '-f', join(folder, 'apache.conf')] };
  });
  const remote = { url: `http://127.0.0.1:${port}/team`, token: { env: 'CACHE_TOKEN' } };
  return {
    remote,
    env: { CACHE_TOKEN: 'right' },
    strangers: { remote, env: { CACHE_TOKEN: 'wrong' } },
    canLease: true as const,
    stop,
  };
};

if (isThere('apache2', 'apt-get install -y apache2-bin')) contractOf('Apache with WebDAV', start);
else describe.skip('Apache with WebDAV');

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { contractOf } from '../shared/contract.js';
import { isThere, startServer } from './start-server.js';

/** As docs/shared-cache.md shows it: everybody may read, only who has the token may write. */
const SETTINGS = (port: number, folder: string) => `
${process.geteuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/t1; fastcgi_temp_path ${folder}/t2;
  uwsgi_temp_path ${folder}/t3; scgi_temp_path ${folder}/t4;
  map "$request_method $http_authorization" $refused { default 0; "~^PUT (?!Bearer right$)" 1; }
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    client_max_body_size 0;
    if ($refused) { return 401; }
    location / { dav_methods PUT; create_full_put_path on; }
  }
}
`;

const start = async () => {
  const { port, stop } = await startServer((onPort, folder) => {
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'nginx.conf'), SETTINGS(onPort, folder));
    return { argv: ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')] };
  });
  const remote = { url: `http://127.0.0.1:${port}/team`, token: { env: 'CACHE_TOKEN' } };
  return {
    remote,
    env: { CACHE_TOKEN: 'right' },
    strangers: { remote, env: { CACHE_TOKEN: 'wrong' } },
    stop,
  };
};

if (isThere('nginx', 'apt-get install -y nginx-light')) contractOf('nginx with WebDAV', start);
else describe.skip('nginx with WebDAV');

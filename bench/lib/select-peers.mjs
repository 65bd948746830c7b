import { PEERS } from '../peers/index.mjs';
import { checkContender } from './check-contender.mjs';

/**
 * Installs or finds the peers that were asked for and keeps those that prove to do the work.
 * @param {string[] | undefined} names undefined: all
 * @param {import('./results.mjs').Results} results @param {(text: string) => void} say
 */
export async function selectPeers(names, results, say) {
  const wanted = (peer) => names === undefined || names.some((name) => name.toLowerCase() === peer.name.toLowerCase());
  const unknown = names?.filter((name) => !PEERS.some((peer) => peer.name.toLowerCase() === name.toLowerCase())) ?? [];
  if (unknown.length > 0)
    throw new Error(`--peers: unknown ${unknown.join(', ')}; known: ${PEERS.map(({ name }) => name).join(', ')}`);
  const selected = [];
  for (const peer of PEERS.filter(wanted)) {
    say(`preparing ${peer.name}`);
    const found = await peer.prepare();
    const problem = 'unavailable' in found ? found.unavailable : await checkContender(peer);
    if (problem !== undefined) {
      results.addAbsent(peer.name, problem);
      continue;
    }
    selected.push(peer);
    const version = 'version' in found ? found.version : '';
    results.notes.push({ name: peer.name, note: peer.note ? `${version}, ${peer.note}` : version });
  }
  return selected;
}

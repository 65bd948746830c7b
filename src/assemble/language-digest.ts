/** Digest of the published schema of flows, written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = '434ab284099d73b7425c55b8afc9cc01a3b83979fb25e79f5b9bf36eab5b2509';

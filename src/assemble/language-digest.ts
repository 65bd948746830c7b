/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = 'fce7165e8056fdc18846ea379d94dc36d326e439d7eb8352d71799cd42947fdb';

/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = '2a88db85f2213cab6df9e26c4ea6fdd40fc0a0376a7603e642660b5ca078120c';

/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = '24e6bb2fade9993956538b72fcbdb77e1520cb21bf3562d6b626a5c8478b5c30';

/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = '428fb02998eb3ea8f301ed6f57ee6c91f986f534a19d3867d1fccc05275eae5c';

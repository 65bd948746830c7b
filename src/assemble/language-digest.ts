/** Of the published schema of flows; written by `npm run language`, so that no call has to compute it. */
export const LANGUAGE_DIGEST = '92bcc5fc825680edcf280079797cac35b1505d1fd49a040147618e0d3520c433';

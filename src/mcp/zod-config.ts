import { config } from 'zod/v4';

// The protocol's library describes messages with zod, which compiles a function for each of them. A server that gets a
// few messages a minute starts sooner without. It must be set before that library is loaded.
config({ jitless: true });

import { claude } from './claude/claude.js';
import { codex } from './codex/codex.js';
import { pi } from './pi/pi.js';

/** The built-in clients, in the order of preference when nothing is configured. */
export const CLIENTS = { pi, claude, codex } as const;

export type ClientName = keyof typeof CLIENTS;

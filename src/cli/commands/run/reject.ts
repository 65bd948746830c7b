import { decisionCommand } from '../../run/decide.js';

export const command = decisionCommand('reject', [
  { command: 'taskflow reject last sure --note "too early"', does: 'say no, and why' },
]);

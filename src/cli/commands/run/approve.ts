import { decisionCommand } from '../../run/decide.js';

export const command = decisionCommand('approve', [
  { command: 'taskflow approve last sure', does: 'approve what the last run waits for' },
  { command: 'taskflow approve last sure --note "but only the docs"', does: 'approve with a word to later phases' },
]);

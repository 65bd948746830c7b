import type { Client } from '../client.js';
import { buildPiCommand } from './build-command.js';
import { foldPi } from './fold.js';

export const pi: Client = {
  type: 'pi',
  reportsCost: true,
  build: buildPiCommand,
  fold: foldPi,
  variables: ['PI_*', 'ANTHROPIC_*', 'OPENAI_*'],
  install: 'npm install -g @earendil-works/pi-coding-agent',
};

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
  advice: {
    key: "is the provider's key right (ANTHROPIC_API_KEY, OPENAI_API_KEY …)? or log in: start pi, type /login",
    server: 'is the server up, and its `baseUrl` in ~/.pi/agent/models.json right?',
  },
};

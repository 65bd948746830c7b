import type { RunnerConfig } from '../../model/config.js';
import type { Project } from '../../util/project.js';
import { clientEnvironment } from '../client-environment.js';
import { runForAnswer } from '../run-client.js';
import type { Runner } from '../runner.js';
import { buildCommand } from './build-command.js';
import { readJsonAnswer, readTextAnswer } from './read-answer.js';

export function commandRunner(name: string, config: RunnerConfig, project: Project): Runner {
  const format = config.format ?? 'text';
  const { command = [], model, concurrency, ratePerMinute, version } = config;
  return {
    name,
    type: 'command',
    // A text answer has no cost; a JSON answer may have one.
    reportsCost: format === 'json',
    settings: { command: [...command], format, ...(version !== undefined && { version }) },
    ...(model !== undefined && { defaultModel: model }),
    ...(concurrency !== undefined && { concurrency }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    run: (request) =>
      runForAnswer(
        {
          who: name,
          command: buildCommand(request, config),
          request,
          env: clientEnvironment(request.env, { config, project }),
        },
        format === 'json' ? readJsonAnswer : readTextAnswer,
      ),
    // How to ask a program for its version is unknown: the configuration names it.
    version: async () => ({ version: version ?? 'unversioned' }),
  };
}

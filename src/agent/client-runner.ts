import type { RunnerConfig } from '../model/config.js';
import type { Failure } from '../model/failure.js';
import type { JsonObject } from '../model/json.js';
import { runProcess } from '../process/run-process.js';
import type { Project } from '../util/project.js';
import type { Client } from './client.js';
import { clientEnvironment } from './client-environment.js';
import { runClient } from './run-client.js';
import type { Runner } from './runner.js';

const VERSION_TIMEOUT_MS = 15_000;

interface ClientRunnerOptions {
  readonly name: string;
  readonly config: RunnerConfig;
  readonly project: Project;
}

/** A runner that starts one of the built-in clients for each request. */
export function clientRunner(client: Client, { name, config, project }: ClientRunnerOptions): Runner {
  const { model, concurrency, ratePerMinute } = config;
  return {
    name,
    type: client.type,
    reportsCost: client.reportsCost,
    settings: settingsOf(config),
    ...(model !== undefined && { defaultModel: model }),
    ...(concurrency !== undefined && { concurrency }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    run: (request) => {
      const command = client.build(request, config);
      const given = clientEnvironment(request.env, { config, project, client, defaults: command.defaults });
      const env = { ...command.defaults, ...given };
      const install = config.command === undefined ? { install: installHint(client) } : {};
      return runClient({ who: name, command, request, env, advice: client.advice, ...install }, client.fold);
    },
    probe: `starts ${versionCommand(client, config).join(' ')}`,
    version: () => askVersion(client, config, project),
  };
}

/** The settings that decide an answer. The model is resolved per call and has its own field in the identity. */
function settingsOf({ provider, args, command, thinking }: RunnerConfig): JsonObject {
  return {
    ...(provider !== undefined && { provider }),
    ...(args !== undefined && args.length > 0 && { args: [...args] }),
    ...(command !== undefined && { command: [...command] }),
    ...(thinking !== undefined && { thinking }),
  };
}

function versionCommand(client: Client, config: RunnerConfig): readonly string[] {
  return [...(config.command ?? [client.type]), '--version'];
}

async function askVersion(
  client: Client,
  config: RunnerConfig,
  project: Project,
): Promise<{ version: string } | { failure: Failure }> {
  const { failure, stdout, stderrTail } = await runProcess({
    argv: versionCommand(client, config),
    cwd: project.root,
    env: clientEnvironment(project.env, { config, project, client }),
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (failure)
    return {
      failure:
        failure.code === 'spawn' && config.command === undefined ? { ...failure, hint: installHint(client) } : failure,
    };
  // Some clients print their version on stderr.
  const text = `${stdout.toString('utf8')}\n${stderrTail}`.trim();
  return { version: /\d+\.\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? text.slice(0, 100) };
}

function installHint(client: Client): string {
  return `install it with \`${client.install}\`, or name its program in \`runners.${client.type}.command\``;
}

import type { RunnerConfig } from '../model/config.js';
import type { Project } from '../util/project.js';
import type { Client, ClientCommand } from './client.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What every program needs. The last one is the mark by which `run/execute/leftovers` finds what a run left behind. */
const PLAIN = ['PATH', 'HOME', 'USER', 'LANG', 'LC_*', 'TERM', 'TZ', 'TMPDIR', 'SHELL', 'XDG_*', 'TASKFLOW_RUN'];

/** Proxies on the way to the model's server. */
const NETWORK = ['http', 'https', 'all', 'no']
  .flatMap((name) => [`${name}_proxy`, `${name.toUpperCase()}_PROXY`])
  .concat('NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR');

interface Recipient {
  readonly config: RunnerConfig;
  readonly project: Project;
  /** A built-in client also gets its own variables. */
  readonly client?: Pick<Client, 'variables'>;
  readonly defaults?: ClientCommand['defaults'];
}

/**
 * What an agent's program sees of the environment: the basics, and what its configuration names. An agent may follow
 * instructions in texts from anywhere, so it does not get every token of the shell.
 */
export function clientEnvironment(environment: Environment, { config, project, ...own }: Recipient): Environment {
  const wanted = [...PLAIN, ...(own.client ? clientVariables(own.client, config, own.defaults) : [])];
  const given = Object.entries(environment).filter(([name]) => wanted.some((pattern) => matches(name, pattern)));
  const named = (config.env ?? []).map((name) => [name, environment[name] ?? project.env[name]]);
  return Object.fromEntries([...given, ...named]);
}

function clientVariables(
  { variables }: Pick<Client, 'variables'>,
  { provider }: RunnerConfig,
  defaults: ClientCommand['defaults'] = {},
): readonly string[] {
  // `provider: groq` reads GROQ_API_KEY.
  const ofProvider = provider === undefined ? [] : [`${provider.toUpperCase().replaceAll('-', '_')}_*`];
  return [...NETWORK, ...variables, ...ofProvider, ...Object.keys(defaults)];
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

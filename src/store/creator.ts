import { hostname, userInfo } from 'node:os';
import type { Project } from '../util/project.js';
import { VERSION } from '../util/version.js';
import type { Creator } from './store.js';

type Environment = Project['env'];

/** Who makes entries here: the user on this machine, or the CI job and who started it; and which taskflow. */
export function creatorOf(env: Environment): Creator {
  const known = creators.get(env);
  if (known) return known;
  const creator = { taskflow: VERSION, ...(ciJob(env) ?? { user: userName(env), host: hostname() }) };
  creators.set(env, creator);
  return creator;
}

/** Cached: every put of a run asks for it. */
const creators = new WeakMap<Environment, Creator>();

function ciJob(env: Environment): Pick<Creator, 'user' | 'ci'> | undefined {
  if (env['GITHUB_ACTIONS'] === 'true') {
    const { GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_JOB: job, GITHUB_ACTOR: actor } = env;
    return named(['GitHub Actions', repository, run && `run ${run}`, job && `job ${job}`], actor);
  }
  if (env['GITLAB_CI'] === 'true') {
    const { CI_PROJECT_PATH: project, CI_JOB_ID: id, CI_JOB_NAME: job, GITLAB_USER_LOGIN: user } = env;
    return named(['GitLab CI', project, id && `job ${id}`, job], user);
  }
  if (!env['CI'] || env['CI'] === 'false') return undefined;
  const job = env['BUILD_TAG'] ?? env['BUILDKITE_JOB_ID'] ?? env['CIRCLE_WORKFLOW_JOB_ID'] ?? env['BUILD_ID'];
  return named(['CI', job && `job ${job}`], undefined);
}

function named(words: readonly (string | undefined)[], user: string | undefined): Pick<Creator, 'user' | 'ci'> {
  const ci = words
    .filter((word) => word)
    .join(' ')
    .slice(0, 300);
  return user ? { user, ci } : { ci };
}

function userName(env: Environment): string {
  try {
    return userInfo().username;
  } catch {
    // The system does not know the user, as in many containers.
    return env['USER'] ?? env['LOGNAME'] ?? 'unknown';
  }
}

import { mkdirSync } from 'node:fs';
import { discard } from '../lib/discard.mjs';
import { createProject } from '../lib/project.mjs';
import { TASKFLOW } from '../lib/taskflow.mjs';
import { measureNode } from '../lib/usage.mjs';
import { questionOf, STEPS, topicsOf } from './topics.cjs';

/** A project whose runner is given; `measure` says what a command of taskflow takes there. */
export function createCallsProject(name, runner) {
  const project = createProject(name);
  const configure = () => {
    mkdirSync(`${project.dir}/.pi/taskflows`, { recursive: true });
    project.write('.pi/taskflows/config.yaml', JSON.stringify({ runner: 'bench', runners: { bench: runner } }));
  };
  configure();
  return {
    ...project,
    measure: (...args) => measureNode([TASKFLOW, ...args], project.dir),
    /** All results and journals are gone after this. */
    forget() {
      project.forget();
      discard(`${project.dir}/out`);
      configure();
    },
  };
}

export function writeTopics(project, count) {
  const phases = STEPS.map((id, index) => ({
    id,
    type: 'agent',
    task: questionOf(id, '{args.topic}', index === 0 ? undefined : `{steps.${STEPS[index - 1]}.output}`),
    cache: { scope: 'cross-run' },
  }));
  project.write('flow.json', JSON.stringify({ name: 'topic', args: { topic: { required: true } }, phases }));
  project.write('topics.txt', `${topicsOf(count).join('\n')}\n`);
}

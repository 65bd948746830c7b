import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from '../support/cli.js';

/** How often something was executed: scripts of these tests append a line to a file each time. */
export function executions(project: TestProject, file: string): number {
  return linesOf(project, file).length;
}

export function linesOf(project: TestProject, file: string): string[] {
  const path = join(project.root, file);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}

/** A phase that all rows share, and one phase of each row; topics that begin with `bad` fail while `broken` exists. */
export const TOPIC_FLOW = `name: topics
concurrency: 8
args:
  topic: { type: string, required: true }
  depth: { type: number, default: 1, maximum: 5 }
phases:
  - id: setup
    type: script
    run: echo x >> setup.count; sleep 0.2; echo ready
  - id: work
    type: script
    run: |
      echo "$TOPIC" >> work.count
      case "$TOPIC" in bad*) if [ -e broken ]; then echo "no luck with $TOPIC" >&2; exit 3; fi;; esac
      echo "# $TOPIC ($SETUP)"
    env: { TOPIC: "{args.topic}", SETUP: "{steps.setup.output}" }
`;

export function topics(count: number): string {
  return Array.from({ length: count }, (_, index) => `Topic ${index + 1}\n`).join('');
}

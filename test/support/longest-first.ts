import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, by measure. Started late, one of them alone would keep everybody waiting at the end. */
const LONGEST = [
  'run/snapshot/snapshot.long',
  'cli/watch.long',
  'docs/commands.long',
  'properties/continued',
  'store/interrupted.long',
  'trust/looking',
  'cli/history',
  'e2e/stored-outputs-memory.long',
  'memo-e2e/changed-inputs.long',
  'memo-e2e/bad-results',
  'store/growth',
  'batch/large',
  'testing/templates',
  'testing/replay.long',
  'properties/observed',
  'properties/snapshot.long',
];

/** Files with a process of their own come first: one in between would end a process that others could share. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) => {
      if (project.name === 'alone') return -1;
      const found = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? LONGEST.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileNameOf, stepsOf } from './pages.js';
import { openSession, type Session } from './session.js';

let session: Session;
beforeEach(async () => {
  session = await openSession();
  const flow = stepsOf('README.md').find(({ text }) => fileNameOf(text) === 'review.yaml')!;
  session.write('review.yaml', flow.text);
});
afterEach(() => session.remove());

const review = 'taskflow run review.yaml --json';

async function calls(command = review): Promise<{ calls: number; status: number | null; output: string }> {
  const before = session.calls();
  const { status, stdout } = await session.type(command);
  return { calls: session.calls() - before, status, output: JSON.parse(stdout).output };
}

describe("the README's first flow", () => {
  it('asks nobody when nothing was changed', async () => {
    expect(await calls()).toEqual({ calls: 0, status: 0, output: '' });
  });

  it('reviews each changed file, in a repository without a commit, and prints the review and no verdict', async () => {
    session.write('a.js', 'a();\n');
    session.write('b c.md', 'b\n');
    expect(await calls()).toEqual({ calls: 3, status: 0, output: 'Line 1 is fine.' });
  });

  it('asks nobody twice about the same content, and about an edited file once', async () => {
    session.write('a.js', 'a();\n');
    session.write('b.js', 'b();\n');
    expect(await calls()).toMatchObject({ calls: 3 });
    expect(await calls()).toMatchObject({ calls: 0, output: 'Line 1 is fine.' });
    session.write('a.js', 'a(1);\n');
    expect(await calls()).toMatchObject({ calls: 1 });
  });

  it('leaves out files that were deleted, staged or not', async () => {
    session.write('a.js', 'a();\n');
    session.write('b.js', 'b();\n');
    session.write('c.js', 'c();\n');
    await session.type('git add -A && git commit -qm first && rm a.js && git rm -q b.js && echo >> c.js');
    expect(await calls()).toMatchObject({ calls: 2, status: 0 });
  });

  it('blocks with status 3 when a review says so', async () => {
    session.write(
      '.pi/taskflows/config.yaml',
      'runner: bad\nrunners: { bad: { command: [echo, "SERIOUS: line 1"] } }\n',
    );
    session.write('a.js', 'a();\n');
    expect((await session.type(review)).status).toBe(3);
  });
});

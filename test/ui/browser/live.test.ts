import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestProject, type TestProject } from '../../support/cli.js';
import { type LiveCli, linesOf, startCli } from '../../support/live-cli.js';
import { axeProblems, describeInBrowser, openPage, overflow, screenshot } from './browser.js';

const ASK = {
  name: 'ask',
  phases: [
    {
      id: 'draft',
      type: 'script',
      run: 'echo x >> ran-draft; echo "<b>draft</b>"',
      cache: { scope: 'cross-run', observe: 'off' },
    },
    { id: 'sure', type: 'approval', task: 'Publish? {steps.draft.output}', dependsOn: ['draft'] },
    { id: 'publish', type: 'script', run: 'echo x >> ran-publish; echo done', dependsOn: ['sure'] },
  ],
};
/** Goes on when the file `go` is there. */
const LONG = {
  name: 'long',
  phases: [
    { id: 'first', type: 'script', run: 'echo one' },
    { id: 'wait', type: 'script', run: 'while [ ! -e go ]; do sleep 0.05; done; echo two', dependsOn: ['first'] },
  ],
};

/** Set by each test. */
let page: Page;
let problems: string[];
let project: TestProject;
let cli: LiveCli | undefined;

async function open(args: readonly string[] = []): Promise<string> {
  cli = startCli(['ui', '--no-open', '--port', '0', ...args], { cwd: project.root, env: { USER: 'ada' } });
  const url = await until(() => /http:\/\/127\.0\.0\.1:\d+\/#\S+/.exec(cli!.stdout())?.[0]);
  await page.goto(url);
  await page.waitForSelector('h1');
  return new URL(url).origin;
}

async function until<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 600; tries++) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not happen');
}

const ran = (phase: string) => linesOf(join(project.root, `ran-${phase}`)).length;
const paused = async () => expect((await project.run(['run', 'ask.json'])).status).toBe(4);
const detached = async (flow: string): Promise<string> =>
  JSON.parse((await project.run(['run', flow, '--detach', '--json'])).stdout).runId;
const badge = () => page.locator('.run-head .badge').textContent();
const badgeIs = (word: string) => page.locator('.run-head .badge', { hasText: word }).waitFor();

describeInBrowser('taskflow ui in a browser', () => {
  beforeEach(async () => {
    project = createTestProject({ 'ask.json': JSON.stringify(ASK), 'long.json': JSON.stringify(LONG) });
    ({ page, problems } = await openPage());
  });
  afterEach(async () => {
    await page.context().close();
    cli?.kill('SIGKILL');
    await cli?.done;
    cli = undefined;
    project.remove();
  });

  it('the token is gone from the address before anybody could read it there', async () => {
    await open();
    expect(page.url()).toMatch(/\/#\/$/);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe('No runs yet');
    expect(await page.locator('code').first().textContent()).toBe('taskflow run FLOW');
  });

  it('a run appears by itself, is shown while it goes, and ends', async () => {
    await open();
    const runId = await detached('long.json');
    await page.getByRole('link', { name: 'long' }).click();
    await badgeIs('still going');
    project.write('go', '');
    await badgeIs('succeeded');
    expect(page.url()).toContain(runId);
    await expect.poll(() => page.title()).toBe('long, succeeded · taskflow');
    expect(problems).toEqual([]);
  });

  it('an approval by click: exactly the text, then the run goes on once', async () => {
    await paused();
    await open();
    await page.getByRole('region', { name: 'Waiting for a decision' }).getByRole('link').click();
    const approval = page.locator('.approval');
    expect(await approval.locator('pre').textContent()).toBe('Publish? <b>draft</b>');
    await approval.getByRole('textbox').fill('but "only" the docs');
    await approval.getByRole('button', { name: 'Approve' }).click();
    await approval.getByText('by ada via ui').waitFor();
    expect(ran('publish')).toBe(0);
    const before = page.url();
    await page.getByRole('button', { name: 'Resume run' }).click();
    const dialog = page.getByRole('dialog', { name: 'Go on with this run?' });
    expect(await dialog.locator('code').textContent()).toMatch(/^taskflow resume \S+ --detach$/);
    await dialog.getByRole('button', { name: 'Resume run' }).click();
    await page.waitForURL((url) => url.href !== before);
    await badgeIs('succeeded');
    expect([ran('draft'), ran('publish')]).toEqual([1, 1]);
    await page.goBack();
    await page.getByText('It went on as run').waitFor();
    expect(await page.locator('.approval').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('a batch goes on by click with the rows that failed; each row is done once', async () => {
    const run = ['sh', '-c', 'echo x >> ran-$0; test $0 = good || test -e fixed', '{args.word}'];
    const rows = { name: 'rows', args: { word: {} }, phases: [{ id: 'read', type: 'script', run }] };
    project.write('rows.json', JSON.stringify(rows));
    project.write('rows.txt', 'good\nbad\n');
    expect((await project.run(['batch', 'rows.json', '--over', 'rows.txt', '--as', 'word'])).status).toBe(1);
    project.write('fixed', '');
    await open();
    await page.getByRole('link', { name: 'rows' }).click();
    await badgeIs('failed');
    const before = page.url();
    await page.getByRole('button', { name: 'Resume run' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('code').textContent()).toBe(
      'taskflow batch rows.json --over rows.txt --as=word --resume --detach',
    );
    await dialog.getByRole('button', { name: 'Resume run' }).click();
    await page.waitForURL((url) => url.href !== before);
    await badgeIs('succeeded');
    expect([ran('good'), ran('bad')]).toEqual([1, 2]);
    expect(problems).toEqual([]);
  });

  it('a run is cancelled after it was asked once more; Esc leaves it', async () => {
    const runId = await detached('long.json');
    await open();
    await page.goto(`${new URL(page.url()).origin}/#/runs/${runId}`);
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await badge()).toBe('still going');
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click();
    await badgeIs('interrupted');
    expect(problems).toEqual([]);
  });

  it('the cache is cleared after it was shown what would go', async () => {
    await paused();
    await open();
    await page.getByRole('link', { name: 'Cache' }).click();
    await page.getByRole('button', { name: 'Clear…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Clear kept results' });
    await dialog.getByLabel('Flow').selectOption('ask');
    expect(await dialog.locator('code').textContent()).toBe('taskflow cache clear ask');
    expect(await dialog.getByRole('button', { name: 'Clear it' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'What would go?' }).click();
    await dialog.getByText('would remove 1 entry').waitFor();
    await dialog.getByRole('button', { name: 'Clear it' }).click();
    await page.getByRole('heading', { name: 'Nothing is kept yet' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('--read-only: commands to type, and no button that decides', async () => {
    await paused();
    await open(['--read-only']);
    await page.getByRole('region', { name: 'Waiting for a decision' }).getByRole('link').click();
    await page.locator('.approval').getByText('say yes in a terminal').waitFor();
    for (const name of ['Approve', 'Reject', 'Resume run', 'Cancel run']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
  });

  it('the connection is lost and found again: the page says so, and shows what it missed', async () => {
    const runId = await detached('long.json');
    const origin = await open();
    await page.goto(`${origin}/#/runs/${runId}`);
    await badgeIs('still going');
    await page.context().setOffline(true);
    project.write('go', '');
    await project.run(['runs', 'wait', runId]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await badge()).toBe('still going');
    await page.context().setOffline(false);
    await badgeIs('succeeded');
    expect(await page.locator('.lost').count()).toBe(0);
  });

  it('a tab that nobody sees holds no connection, and catches up when it is seen', async () => {
    const runId = await detached('long.json');
    const origin = await open();
    await page.goto(`${origin}/#/runs/${runId}`);
    await badgeIs('still going');
    const hide = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
      document.dispatchEvent(new Event('visibilitychange'));`);
    await hide(true);
    project.write('go', '');
    await project.run(['runs', 'wait', runId]);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(await badge()).toBe('still going');
    await hide(false);
    await badgeIs('succeeded');
  });

  it('a run that is removed while it is shown', async () => {
    await paused();
    await open();
    await page.getByRole('region', { name: 'Waiting for a decision' }).getByRole('link').click();
    await page.locator('.approval').waitFor();
    rmSync(join(project.root, '.pi/taskflows/runs'), { recursive: true });
    await page.getByText('it was removed').waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
    // The browser itself notes that the run is not there.
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
  });

  it('a page of somebody else in the same browser gets neither data nor a decision', async () => {
    await paused();
    const origin = await open();
    const foreign = await page.context().newPage();
    // Another origin, and same-site for the cookie: what SameSite alone would let through.
    await foreign.route('http://localhost:9/**', (route) => route.fulfill({ contentType: 'text/html', body: 'evil' }));
    await foreign.goto('http://localhost:9/');
    const tried = await foreign.evaluate(async (target) => {
      const attempt = (path: string, init?: RequestInit) =>
        fetch(`${target}${path}`, { credentials: 'include', ...init }).then(
          async (response) => `${response.type} ${response.status}`,
          () => 'failed',
        );
      return [
        await attempt('/api/runs'),
        await attempt('/api/runs', { mode: 'no-cors' }),
        await attempt('/api/cancel', { method: 'POST', body: '{}', mode: 'no-cors' }),
        await attempt('/api/cancel', {
          method: 'POST',
          body: '{}',
          headers: { 'x-taskflow': '1', 'content-type': 'application/json' },
        }),
      ];
    }, origin);
    expect(tried).toEqual(Array(4).fill('failed'));
    await foreign.setContent(`<iframe src="${origin}/"></iframe>`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(foreign.frames().map((frame) => frame.url())).not.toContain(`${origin}/`);
  });

  it('a browser that was not let in sees how to get in, and nothing else', async () => {
    const origin = await open();
    const { page: outside } = await openPage();
    await outside.goto(`${origin}/`);
    expect(await outside.locator('h1').textContent()).toBe('This browser was not let in');
    await outside.goto(`${origin}/#${'x'.repeat(43)}`);
    await outside.reload();
    expect(await outside.locator('h1').textContent()).toBe('This browser was not let in');
    await outside.context().close();
  });

  it('no violation that axe finds, no sideways scroll, in both colour schemes; pictures are kept', async () => {
    await paused();
    await project.run(['run', 'ask.json', '--fresh', '--yes']);
    const origin = await open();
    const runId = await page.evaluate(async () => {
      const { runs } = await fetch('/api/runs').then((response) => response.json());
      return runs.find((run: { state: string }) => run.state === 'paused').runId;
    });
    const places = { runs: '#/', run: `#/runs/${runId}`, cache: '#/cache' };
    for (const [name, place] of Object.entries(places)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [360, 1280, 2560]) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(`${origin}/${place}`);
          await page.locator('h1').first().waitFor();
          await new Promise((resolve) => setTimeout(resolve, 200));
          await screenshot(page, `live-${name}-${width}-${colorScheme}`);
          expect([name, width, await overflow(page)]).toEqual([name, width, 0]);
        }
        expect([name, colorScheme, await axeProblems(page)]).toEqual([name, colorScheme, []]);
      }
    }
    await page.getByRole('button', { name: 'Clear…' }).click();
    expect(await axeProblems(page)).toEqual([]);
  }, 120_000);
});

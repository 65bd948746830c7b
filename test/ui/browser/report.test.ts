import { afterAll, beforeAll, expect, it } from 'vitest';
import { endLine, resultLine, runLine, writeJournal } from '../../support/written-journal.js';
import { axeProblems, describeInBrowser, openPage, overflow, Reports, screenshot } from './browser.js';
import { writeRichRun, writeRunBefore } from './runs.js';

describeInBrowser('a report in a browser', () => {
  const reports = new Reports();
  let url: string;
  beforeAll(async () => {
    writeRunBefore(reports.root);
    writeRichRun(reports.root);
    url = await reports.write();
  });
  afterAll(() => reports.remove());

  it('opens from a file, asks the network for nothing, and shows why and what it cost first', async () => {
    const { page, problems, requests } = await openPage();
    await page.goto(url);
    expect(await page.textContent('h1')).toBe('release');
    expect(await page.textContent('.run-head .badge')).toContain('waits');
    expect(await page.textContent('.bill')).toMatch(/Spent\$0\.22.*Saved by reuse\$0\.78/);
    // Three phases and three items ran because of one file.
    expect(await page.textContent('.causes li')).toContain('src/payments.ts');
    expect(await page.textContent('.compare')).toContain('$0.77 less');
    expect(requests).toEqual([url]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('is one selection in three views', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.graph [data-phase="risks"]');
    expect(await page.textContent('#detail')).toContain('goes back to src/payments.ts');
    await page.click('text=Timeline');
    expect(await page.getAttribute('.lane[aria-selected="true"]', 'data-phase')).toBe('risks');
    await page.click('.lane[data-phase="notes"]');
    await page.click('#tab-table');
    expect(await page.textContent('tr.is-chosen th')).toContain('notes');
    expect(await page.textContent('#detail .because')).toContain('kept from an earlier run');
    await page.close();
  });

  it('shows an attempt that failed, what was asked, folded, and the command for the rest', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.graph [data-phase="risks"]');
    expect(await page.textContent('.attempt')).toContain('overloaded: try again later');
    const lines = async () => (await page.textContent('#detail pre'))!.split('\n').length;
    expect(await lines()).toBeLessThan(20);
    await page.click('text=/show all/');
    expect(await lines()).toBeGreaterThan(30);
    expect(await page.textContent('.commands')).toContain('taskflow trace 20260101-120000-aaaaaa risks --full');
    await page.close();
  });

  it('shows what a phase depends on, what of it changed since the run before, and which edit cost what', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.graph [data-phase="risks"]');
    const section = page.locator('#detail section', { hasText: 'Depends on' });
    expect(await section.textContent()).toContain('2 of 6 changed since run 20260101-110000-bbbbbb');
    expect(await section.locator('.is-changed').allTextContents()).toEqual([
      'glob:src/*1 filechanged aaaaaaaa → bbbbbbbbsrc/payments.ts',
      'modelchanged large-0 → large-1',
    ]);
    expect(await section.textContent()).toContain('environment TOKENnot shown');
    expect(await page.textContent('.compared tr:has-text("risks") .why')).toBe(
      'input changed: glob:src/* (src/payments.ts); model changed: large-0 → large-1',
    );
    expect(await page.textContent('.edits')).toContain(
      'model changed: large-0 → large-1, src/payments.ts → risks: $0.12',
    );
    await page.click('.graph [data-phase="style"]');
    await page.locator('#detail .because', { hasText: 'kept from an earlier run' }).waitFor();
    expect(await page.locator('#detail section', { hasText: 'Depends on' }).count()).toBe(0);
    await page.close();
  });

  it('tells items of the shared cache apart from other reused ones, and filters them', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.graph [data-phase="review"]');
    expect(await page.textContent('#detail .facts')).toContain('21 reused (4 from the shared cache)');
    await page.getByRole('button', { name: 'shared 4' }).click();
    expect(await page.locator('#detail .line .line-word').allTextContents()).toEqual(Array(4).fill('shared'));
    await page.locator('#detail .line').first().click();
    expect(await page.textContent('#detail .because')).toContain('from the shared cache');
    await page.close();
  });

  it('can be walked with the keyboard alone', async () => {
    const { page } = await openPage();
    await page.goto(url);
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        return element.dataset['phase'] ?? (element.id || element.className);
      });
    await page.focus('#tab-graph');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('publish-ok');
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toBe('notes');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('detail');
    await page.keyboard.press('Escape');
    await expect.poll(focused).toBe('notes');
    await page.keyboard.press('2');
    await page.focus('#tab-timeline');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('notes');
    await page.keyboard.press('Home');
    await expect.poll(focused).toBe('files');
    await page.keyboard.press('3');
    await page.focus('[data-phase="files"].phase-name');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe('review');
    await page.keyboard.press('/');
    expect(await focused()).toBe('search');
    await page.keyboard.type('file-11');
    expect(await page.locator('.line').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await page.locator('.line').count()).toBeGreaterThan(1);
    await page.focus('.lines');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.textContent('#detail-title')).toContain('review / item 2');
    expect(await page.getAttribute('.lines', 'aria-activedescendant')).toBeTruthy();
    await page.keyboard.press('Escape');
    expect(await page.textContent('#detail-title')).toBe('review');
    // Whatever has the focus is seen.
    expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).not.toBe('none');
    await page.close();
  });

  it.each(['light', 'dark'] as const)('has nothing that axe finds wrong, %s', async (colorScheme) => {
    const { page } = await openPage({ colorScheme });
    await page.goto(url);
    for (const phase of ['publish-ok', 'review', 'risks']) {
      await page.click(`.graph [data-phase="${phase}"]`);
      expect(await axeProblems(page)).toEqual([]);
    }
    for (const view of ['timeline', 'table']) {
      await page.click(`#tab-${view}`);
      expect(await axeProblems(page)).toEqual([]);
    }
    await page.close();
  });

  it('fits a phone: nothing is wider than 360 pixels', async () => {
    const { page } = await openPage({ viewport: { width: 360, height: 780 }, hasTouch: true });
    await page.goto(url);
    for (const view of ['graph', 'timeline', 'table']) {
      await page.click(`#tab-${view}`);
      for (const phase of ['review', 'risks']) {
        await page.click(`.view:not(.is-hidden) [data-phase="${phase}"]`);
        expect([view, phase, await overflow(page)]).toEqual([view, phase, 0]);
      }
    }
    await page.close();
  });

  it('prints the table and what is selected, and no buttons', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.emulateMedia({ media: 'print' });
    expect(await page.isVisible('.phases')).toBe(true);
    expect(await page.isVisible('.graph')).toBe(false);
    expect(await page.isVisible('.tabs')).toBe(false);
    expect(await page.isVisible('.copy')).toBe(false);
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
    await page.close();
  });

  it('says what a screen reader should say when the selection changes', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.graph [data-phase="style"]');
    await expect.poll(() => page.textContent('[role="status"]')).toContain('style: reused, kept from an earlier run');
    await page.close();
  });

  it('without contents says so instead of showing nothing', async () => {
    const { page } = await openPage();
    await page.goto(await reports.write({ outputs: false }));
    await page.click('.graph [data-phase="risks"]');
    expect(await page.textContent('#detail')).toContain('Contents were left out');
    expect(await page.textContent('.foot')).toContain('without contents');
    await page.goto(await reports.write());
    await page.close();
  });

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
    [2560, 'light'],
    [2560, 'dark'],
  ] as const)('is kept as a picture: %i pixels, %s', async (width, colorScheme) => {
    const { page, problems } = await openPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(url);
    for (const view of ['graph', 'timeline', 'table']) {
      await page.click(`#tab-${view}`);
      await page.click(`.view:not(.is-hidden) [data-phase="review"]`);
      await screenshot(page, `report-${view}-${width}-${colorScheme}`);
    }
    expect([problems, await overflow(page)]).toEqual([[], 0]);
    await page.close();
  });
});

describeInBrowser('what phases said', () => {
  const reports = new Reports();
  afterAll(() => reports.remove());

  it('is text: no markup, no script, no terminal escape and no turned direction acts', async () => {
    const hostile = [
      '<script>window.hacked = 1</script>',
      '</script><script>window.hacked = 2</script>',
      '<img src=x onerror="window.hacked = 3">',
      '<a href="javascript:window.hacked = 4">click</a>',
      '<style>body { display: none }</style>',
      '\u001b]0;title\u0007\u001b[31mred\u001b[0m',
      'left \u202eright to left\u202c',
      '{{constructor.constructor("window.hacked = 5")()}}',
    ].join('\n');
    const names = ['<b>bold', '__proto__', 'constructor', '"><script>window.hacked = 6</script>', '\u202egpj.exe'];
    const lines = names.map((name) =>
      resultLine(name, {
        reason: hostile,
        output: { text: hostile, json: null },
        remark: hostile,
        inputs: { [hostile]: hostile },
      }),
    );
    writeJournal(reports.root, [
      runLine(
        names.slice(0, 2).map((id) => ({ id })),
        { flow: hostile, file: hostile, args: { [hostile]: hostile } },
      ),
      ...lines,
      { type: 'warning', at: 1, message: hostile },
      endLine({ status: 'failed', failure: { code: 'exit', message: hostile, phase: hostile } }),
    ]);
    const { page, problems, requests } = await openPage();
    await page.goto(await reports.write());
    const ids = await page.locator('.graph [data-phase]').count();
    expect(ids).toBe(names.length);
    for (const view of ['graph', 'timeline', 'table']) {
      await page.click(`#tab-${view}`);
      for (let at = 0; at < ids; at++) await page.locator('.view:not(.is-hidden) [data-phase]').nth(at).click();
    }
    expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined();
    expect(
      await page.locator('#page img, #page a[href^="javascript"], #page script, #page style, #page b').count(),
    ).toBe(0);
    const text = await page.evaluate(() => document.getElementById('page')!.textContent);
    expect(text).toContain('<script>window.hacked = 1</script>');
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect([requests.length, problems]).toEqual([1, []]);
    await page.close();
  });
});

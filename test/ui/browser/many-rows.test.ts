import { afterAll, beforeAll, expect, it } from 'vitest';
import { endLine, resultLine, runLine, writeJournal } from '../../support/written-journal.js';
import { axeProblems, describeInBrowser, openPage, overflow, Reports, screenshot } from './browser.js';
import { writeBatch } from './runs.js';

const ROWS = 10_000;

describeInBrowser('a flow of twenty thousand phases', () => {
  const reports = new Reports();
  afterAll(() => reports.remove());

  it('is a list, which is there quickly', async () => {
    const phases = Array.from({ length: 20_000 }, (_, at) => ({ id: `p${at}`, needs: at > 0 ? [`p${at - 1}`] : [] }));
    writeJournal(reports.root, [runLine(phases), ...phases.map(({ id }) => resultLine(id)), endLine()]);
    const { page, problems } = await openPage();
    await page.goto(await reports.write());
    expect(await page.locator('.line').count()).toBeLessThan(60);
    await page.fill('.search', 'p12345');
    await page.click('.line');
    expect(await page.textContent('#detail-title')).toBe('p12345');
    expect(problems).toEqual([]);
    await page.close();
  });
});

describeInBrowser('ten thousand rows', () => {
  const reports = new Reports();
  let url: string;
  beforeAll(async () => {
    writeBatch(reports.root, ROWS);
    url = await reports.write();
  });
  afterAll(() => reports.remove());

  it('are there quickly, and only those that are seen are drawn', async () => {
    const { page, problems } = await openPage();
    await page.goto(url);
    await page.waitForSelector('.line');
    const painted = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
    );
    process.stdout.write(`first paint of ${ROWS} rows: ${Math.round(painted)} ms\n`);
    expect(painted).toBeGreaterThan(0);
    expect(painted).toBeLessThan(5_000);
    expect(await page.locator('.line').count()).toBeLessThan(40);
    expect(await page.getAttribute('.lines', 'aria-label')).toBe('rows: 10,000');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('are searched and filtered', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.fill('.search', 'topic 1234');
    expect(await page.locator('.line').count()).toBe(1);
    await page.fill('.search', '');
    await page.click('.filter.is-failed');
    expect(await page.getAttribute('.lines', 'aria-label')).toBe('rows: 100');
    expect(await page.textContent('.line')).toContain('check: the answer has no source');
    await page.fill('.search', 'no such topic');
    expect(await page.textContent('.view-rows')).toContain('Nothing matches');
    await page.click('text=Show all 10,000');
    expect(await page.getAttribute('.lines', 'aria-label')).toBe('rows: 10,000');
    await page.close();
  });

  it('scroll without gaps, and each search answers within a moment', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.waitForSelector('.line');
    const frames = await page.evaluate(async () => {
      const box = document.querySelector('.lines')!;
      const times: number[] = [];
      let gaps = 0;
      let last = performance.now();
      for (let step = 1; step <= 60; step++) {
        box.scrollTop = step * 5_000;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const { top, bottom } = box.getBoundingClientRect();
        if (!document.elementFromPoint(box.getBoundingClientRect().left + 40, (top + bottom) / 2)?.closest('.line'))
          gaps += 1;
        times.push(performance.now() - last);
        last = performance.now();
      }
      return { median: times.sort((a, b) => a - b)[30]!, gaps };
    });
    const typed = await page.evaluate(async () => {
      const search = document.querySelector<HTMLInputElement>('.search')!;
      const begun = performance.now();
      search.value = 'topic 99';
      search.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return performance.now() - begun;
    });
    process.stdout.write(`scroll: ${frames.median.toFixed(1)} ms a step; search: ${typed.toFixed(1)} ms\n`);
    expect(frames.gaps).toBe(0);
    expect(frames.median).toBeLessThan(250);
    expect(typed).toBeLessThan(1_500);
    await page.close();
  });

  it('are walked with the keyboard to the last one', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.keyboard.press('/');
    await page.keyboard.press('Tab');
    await page.focus('.lines');
    await page.keyboard.press('End');
    await expect.poll(() => page.textContent('#detail-title')).toContain('Row 10000');
    expect(await page.locator('.line[aria-selected="true"]').count()).toBe(1);
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('detail');
    await page.close();
  });

  it('open into what each phase did in a row', async () => {
    const { page } = await openPage();
    await page.goto(url);
    await page.click('.line >> nth=6');
    expect(await page.textContent('#detail')).toContain('2 ran, 0 reused');
    await page.click('.row-phases >> text=ask');
    expect(await page.textContent('#detail')).toContain('About topic 7.');
    await page.close();
  });

  it.each(['light', 'dark'] as const)('have nothing that axe finds wrong, and fit a phone, %s', async (colorScheme) => {
    const { page } = await openPage({ colorScheme });
    await page.goto(url);
    await page.click('.line >> nth=6');
    expect(await axeProblems(page)).toEqual([]);
    await screenshot(page, `rows-1280-${colorScheme}`);
    await page.setViewportSize({ width: 360, height: 780 });
    expect(await overflow(page)).toBe(0);
    await screenshot(page, `rows-360-${colorScheme}`);
    await page.close();
  });
});

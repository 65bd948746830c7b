import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { buildPage } from '../../../scripts/build.mjs';
import { readPageFiles } from '../../../src/cli/load/page-files.js';
import { openProject } from '../../../src/index.js';
import { type PageFiles, reportHtml } from '../../../src/ui/report/html.js';
import { type ReportOptions, reportData } from '../../../src/ui/report/make-report.js';
import { RUN_ID } from '../../support/written-journal.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const FOUND = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));
const HINT = 'skipped: install the package chromium, as in apt-get install chromium';
/** Pictures of the page, for people to look at. */
const SCREENSHOTS = fileURLToPath(new URL('../screenshots', import.meta.url));

/** Tests in the system's browser. Where it is missing they are skipped, and CI, which installs it, fails. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (!FOUND && process.env['TASKFLOW_NEEDS_BROWSER'] === '1') throw new Error('the package chromium is not installed');
  if (!FOUND) process.stdout.write(`${name}: ${HINT}\n`);
  describe.skipIf(!FOUND)(name, () => {
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: FOUND, args: ['--no-sandbox', '--disable-gpu'] });
    });
    afterAll(() => browser?.close());
    tests();
  });
}

let browser: Browser | undefined;

/** A page whose errors and requests are kept. */
export interface Opened {
  readonly page: Page;
  readonly problems: string[];
  readonly requests: string[];
}

export async function openPage(options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser!.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const [problems, requests]: [string[], string[]] = [[], []];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  return { page, problems, requests };
}

/** A project whose runs a test writes, and reports of them. */
export class Reports {
  readonly root = mkdtempSync(join(tmpdir(), 'taskflow-page-'));
  #files: PageFiles | undefined;

  async write(options: Partial<ReportOptions> & { readonly runId?: string } = {}): Promise<string> {
    const { runId = RUN_ID, ...rest } = options;
    if (!this.#files) {
      const folder = mkdtempSync(join(tmpdir(), 'taskflow-built-'));
      await buildPage(folder);
      this.#files = readPageFiles(folder);
    }
    const kept = { dir: join(this.root, '.pi/taskflows/cache') };
    const data = reportData(openProject(this.root, {}), runId, { madeAt: 0, kept, ...rest });
    const file = join(this.root, `${runId}.html`);
    writeFileSync(file, reportHtml(data!, this.#files));
    return pathToFileURL(file).href;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** What axe finds wrong, a line each. */
export async function axeProblems(page: Page): Promise<string[]> {
  // The page's own policy lets no other script in; the debugger may.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

/** How far the page is wider than the window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

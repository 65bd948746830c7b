import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { PAGES, textOf } from './pages.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ALL = [...PAGES, 'RFC.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

/** As GitHub makes them of headings. */
function anchorsOf(page: string): readonly string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('links', () => {
  it.each(ALL)('%s leads nowhere that is not there', (page) => {
    const prose = textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, '');
    for (const [, path = '', anchor] of prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)) {
      const target = path === '' ? page : join(dirname(page), path);
      expect(existsSync(join(ROOT, target)), `${page} → ${target}`).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(target), `${page} → ${target}#${anchor}`).toContain(anchor);
    }
  });

  it('lead from the README to every page, directly or by another page', () => {
    const reached = new Set<string>();
    const visit = (page: string): void => {
      if (reached.has(page) || !page.endsWith('.md')) return;
      reached.add(page);
      for (const [, path] of textOf(page).matchAll(/\]\((?!https?:)([^)#\s]+\.md)/g)) visit(join(dirname(page), path!));
    };
    visit('README.md');
    expect(ALL.filter((page) => !reached.has(page))).toEqual([]);
  });
});

describe('pages', () => {
  it.each(ALL)('%s has no line over 120 columns outside of tables', (page) => {
    const lines = textOf(page).split('\n');
    expect(lines.filter((line) => line.length > 120 && !/^\|/.test(line))).toEqual([]);
  });

  it('the README takes ten minutes, the design record an hour', () => {
    expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(151);
    expect(textOf('RFC.md').split(/\s+/).length).toBeLessThanOrEqual(4500);
  });
});

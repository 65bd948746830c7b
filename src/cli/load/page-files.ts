import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageFiles } from '../../ui/report/html.js';

/** The built page, beside the command. */
export function readPageFiles(folder = __dirname): PageFiles {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { script: read('page.js'), style: read('page-style.css') };
}

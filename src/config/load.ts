import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_DEFAULTS, type Config, type ConfigValue } from '../model/config.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { isJsonObject } from '../model/json.js';
import { readDerived, writeDerived } from '../util/derived-cache.js';
import { sha256Hex } from '../util/digest.js';
import { STATE_DIR } from '../util/project.js';
import type { ProjectPlace } from '../util/user-cache.js';
import { VERSION } from '../util/version.js';
import type { CheckedFile } from './check-file.js';
import { DEFAULT_VALUES } from './defaults.js';
import { type ConfigFile, configFile } from './files.js';
import type { Layer } from './layer.js';
import { mergeLayers } from './merge.js';

export interface LoadedConfig {
  /** Usable even if there are problems: wrong settings are left out. */
  readonly config: Config;
  readonly problems: readonly Diagnostic[];
  /** Every setting that has a value, with where it comes from. */
  readonly values: readonly ConfigValue[];
  /** The files that were looked for, with the digest of each; null where there is none. */
  readonly looked: readonly { readonly path: string; readonly digest: string | null }[];
}

/**
 * The project's file over the user's over the defaults. Parsed settings are kept by the digest of their file, so that
 * YAML is loaded once per edit.
 */
export async function loadConfig(project: ProjectPlace): Promise<LoadedConfig> {
  const layers: Layer[] = [];
  const unreadable: Diagnostic[] = [];
  const looked: { path: string; digest: string | null }[] = [];
  for (const source of ['user', 'project'] as const) {
    const file = configFile(project, source);
    const read = readText(file);
    looked.push({ path: file.path, digest: read.text === undefined ? null : sha256Hex(read.text) });
    if (read.problem) unreadable.push(read.problem);
    if (read.text !== undefined) layers.push({ ...file, checked: await checkedFile(project, file, read.text) });
  }
  if (layers.length === 0) return { config: CONFIG_DEFAULTS, problems: unreadable, values: DEFAULT_VALUES, looked };
  const merged = await mergeLayers(layers);
  return { ...merged, problems: [...unreadable, ...merged.problems], looked };
}

async function checkedFile(project: ProjectPlace, file: ConfigFile, text: string): Promise<CheckedFile> {
  const digest = sha256Hex(JSON.stringify(['config', 1, VERSION, file.name, text]));
  const kept = readDerived(project, digest);
  if (isCheckedFile(kept)) return kept;
  const { checkConfigText } = await import('./check-file.js');
  const checked = await checkConfigText(text, file.name);
  if (existsSync(join(project.root, STATE_DIR))) writeDerived(project, digest, checked);
  return checked;
}

function isCheckedFile(kept: unknown): kept is CheckedFile {
  return isJsonObject(kept) && isJsonObject(kept['values']) && Array.isArray(kept['problems']);
}

function readText(file: ConfigFile): { readonly text?: string; readonly problem?: Diagnostic } {
  try {
    return { text: readFileSync(file.path, 'utf8') };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    const place = { file: file.name, line: 1, column: 1, length: 1 };
    return { problem: { ...place, severity: 'error', code: 'unreadable', message: `cannot be read: ${message}` } };
  }
}

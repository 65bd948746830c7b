import type { Config } from '../../model/config.js';
import type { Project } from '../../util/project.js';

/** What one check of `doctor` found. `problem`: something will not work; `warning`: something might surprise. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'problem' | 'absent';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface DoctorContext {
  readonly project: Project;
  readonly config: Config;
  /** Programs are started and servers asked; otherwise they are only looked for. */
  readonly probe: boolean;
}

export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;

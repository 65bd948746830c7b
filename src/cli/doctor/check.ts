import type { Config } from '../../model/config.js';
import type { Project } from '../../util/project.js';

/** One result of `doctor`. `problem`: something will not work; `warning`: something might surprise. */
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
  /** Start programs and call servers; otherwise only look for them. */
  readonly probe: boolean;
}

export type Check = (context: DoctorContext) => Promise<readonly Finding[]>;

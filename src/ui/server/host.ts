import type { StoreOptions } from '../../store/options.js';
import type { Project } from '../../util/project.js';

/** What the command hands over: the page's server knows nothing of the command line. */
export interface UiHost {
  readonly project: Project;
  readonly page: ServedPage;
  /** Nothing can be decided from the page. */
  readonly readOnly: boolean;
  /** Who sits before the page, as the journal names them. */
  readonly who: string;
  /** Takes secrets that the settings name out of a text. */
  mask?(text: string): string;
  /** Runs one of our own commands; what it says is what a person would have read. */
  call(args: readonly string[]): Promise<CommandResult>;
  /** Where results are kept, by the settings of this moment; or why that cannot be said. */
  store(): Promise<StoreOptions | { readonly problem: string }>;
  /** An address that lets one browser in; each is used once. */
  announce(url: string, isFirst: boolean): void;
  /** What whoever started the server has to know. It goes on. */
  report(message: string): void;
}

export interface ServedPage {
  readonly html: string;
  /** The Content-Security-Policy that names the page's own script and style by their digests. */
  readonly policy: string;
}

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

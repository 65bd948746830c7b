import type { StoreOptions } from '../../store/options.js';
import type { Project } from '../../util/project.js';

/** What the command lends to the page's server, which knows nothing of the command line. */
export interface UiHost {
  readonly project: Project;
  readonly page: ServedPage;
  /** The page cannot act. */
  readonly readOnly: boolean;
  /** The person at the page, as the journal names them. */
  readonly who: string;
  /** Hides secrets that the settings name. */
  mask?(text: string): string;
  /** Runs one of our own commands, and returns its output. */
  call(args: readonly string[]): Promise<CommandResult>;
  /** Where results are kept, by the present settings; or why that is not known. */
  store(): Promise<StoreOptions | { readonly problem: string }>;
  /** Shows an address that lets one browser in; each works once. */
  announce(url: string, isFirst: boolean): void;
  /** Shows a problem to the person who started the server, which goes on. */
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

export function build(): Promise<void>;
export function buildPage(outdir: string): Promise<void>;

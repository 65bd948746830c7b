export function build(): Promise<void>;
export function buildCli(outdir: string): Promise<void>;

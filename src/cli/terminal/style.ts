/** Terminal styles; without colours they return plain text. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(color: boolean): Style {
  const wrap = (open: number, close: number) =>
    color ? (text: string) => (text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`) : (text: string) => text;
  return {
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    red: wrap(31, 39),
    green: wrap(32, 39),
    yellow: wrap(33, 39),
    cyan: wrap(36, 39),
  };
}

export function ansiToSvg(ansi: string, options: { readonly columns: number; readonly title: string }): string;

/** How a program takes code on its command line, and how that code reads a variable. */
export interface Language {
  readonly program: RegExp;
  /** The next element is code. */
  readonly flag?: RegExp;
  /** The rest of this element is code. */
  readonly glued?: RegExp;
  /** Options whose value is the next element. */
  readonly valued?: RegExp;
  /** Further options may come between the flag and the code. */
  readonly optionsFollow?: boolean;
  /** Words that may come before the options without ending them. */
  readonly skips?: RegExp;
  /** All that follows the flag is code. */
  readonly rest?: boolean;
  /** There may be several pieces of code. */
  readonly repeats?: boolean;
  /** Code without a flag: the first word, all words, or all but the first. */
  readonly bare?: 'first' | 'all' | 'after-first';
  /** The code is in a file, or there is none: what follows is data. */
  readonly fromFile?: RegExp;
  readonly advice: (variable: string, program: string) => string;
  /** For a program that cannot read variables: how it reads standard input. */
  readonly byInput?: string;
}

const inShell = (variable: string) => `write "$${variable}"`;
const reads = (expression: (variable: string) => string) => (variable: string) => `read it as ${expression(variable)}`;

const READS: Readonly<Record<string, (variable: string) => string>> = {
  deno: (variable) => `Deno.env.get("${variable}")`,
  perl: (variable) => `$ENV{${variable}}`,
  ruby: (variable) => `ENV["${variable}"]`,
  julia: (variable) => `ENV["${variable}"]`,
  lua: (variable) => `os.getenv("${variable}")`,
  luajit: (variable) => `os.getenv("${variable}")`,
  Rscript: (variable) => `Sys.getenv("${variable}")`,
  elixir: (variable) => `System.get_env("${variable}")`,
  osascript: (variable) => `system attribute "${variable}"`,
};

function readsBy(program: string, variable: string): string {
  const expression = READS[program.replace(/[\d.]+$/, '')];
  return `read it as ${expression ? expression(variable) : ['process', 'env', variable].join('.')}`;
}

export const LANGUAGES: readonly Language[] = [
  {
    program: /^(ba|z|da|k|mk|fi|a|tc|c)?sh$/,
    flag: /^-[a-zA-Z]*c[a-zA-Z]*$|^--command$/,
    glued: /^--command=/,
    valued: /^[-+][a-zA-Z]*[oO]$|^--(rcfile|init-file|init-command)$/,
    optionsFollow: true,
    advice: inShell,
  },
  {
    // The user's name, and the file that is locked, may come before the options.
    program: /^(su|runuser|flock|script)$/,
    flag: /^(-[a-z]*c|--command|--session-command)$/,
    glued: /^(-c.|--(session-)?command=)/,
    valued: /^(-[sgGwEIOTBmo]|--(shell|group|supp-group|timeout|wait|conflict-exit-code))$/,
    skips: /^[^-]|^-$/,
    advice: inShell,
  },
  {
    program: /^(npx|npm|pnpm)$/,
    flag: /^(-c|--call|--shell-mode)$/,
    glued: /^(-c.|--call=)/,
    valued: /^(-p|-w|--package|--workspace|--prefix|-C|--dir)$/,
    skips: /^(exec|x|dlx)$/,
    advice: inShell,
  },
  {
    program: /^ssh$/,
    valued: /^-[BbcDEeFIiJLlmOopQRSWw]$/,
    bare: 'after-first',
    byInput: 'let the command read it: variables do not travel',
    advice: inShell,
  },
  { program: /^watch$/, valued: /^(-n|--interval)$/, fromFile: /^(-x|--exec)$/, bare: 'all', advice: inShell },
  {
    program: /^[gmn]?awk$/,
    flag: /^(-e|--source)$/,
    glued: /^(-e.|--source=)/,
    valued: /^(-[vFil]|--(assign|field-separator|include|load))$/,
    fromFile: /^(-[fE]|--file|--exec)/,
    repeats: true,
    bare: 'first',
    advice: reads((variable) => `ENVIRON["${variable}"]`),
  },
  {
    program: /^g?sed$/,
    flag: /^(-[nErsuz]*e|--expression)$/,
    glued: /^(-[nErsuz]*e.|--expression=)/,
    valued: /^(-l|--line-length)$/,
    fromFile: /^(-[nErsuz]*f|--file)/,
    repeats: true,
    bare: 'first',
    advice: (variable) => `use awk, where it is ENVIRON["${variable}"]: sed reads no variables`,
  },
  {
    program: /^(node|nodejs|bun|deno|tsx|ts-node)$/,
    flag: /^(-[pi]*[ep]|--eval|--print|eval)$/,
    glued: /^--(eval|print)=/,
    valued: /^(-r|--require|--import|--loader|-C|--conditions|--env-file|--input-type)$/,
    advice: (variable, program) => readsBy(program, variable),
  },
  {
    program: /^(python|pypy)[\d.]*$/,
    flag: /^-[a-zA-Z]*c$/,
    glued: /^-[a-zA-Z]*c./,
    valued: /^-[WX]$/,
    advice: reads((variable) => `os.environ["${variable}"]`),
  },
  {
    program: /^(perl|ruby|lua|luajit|osascript|Rscript|elixir|julia)[\d.]*$/,
    flag: /^(-[a-zA-Z]*[eE]|--eval)$/,
    glued: /^(-[eE]|--eval=)./,
    valued: /^-[ICrl]$/,
    repeats: true,
    advice: (variable, program) => readsBy(program, variable),
  },
  {
    program: /^php[\d.]*$/,
    flag: /^(-r|--run)$/,
    glued: /^-r./,
    valued: /^-[cd]$/,
    advice: reads((variable) => `getenv("${variable}")`),
  },
  {
    program: /^(pwsh|powershell)(\.exe)?$/,
    flag: /^-(c|command|encodedcommand)$/i,
    rest: true,
    advice: reads((variable) => `$env:${variable}`),
  },
  {
    program: /^cmd(\.exe)?$/,
    flag: /^\/[ck]$/i,
    rest: true,
    advice: () => 'read the variable in a script of its own: cmd puts values into the line before it reads it',
  },
  {
    program: /^env$/,
    flag: /^(-S|--split-string)$/,
    glued: /^(-S|--split-string=)./,
    valued: /^-[uC]$/,
    advice: inShell,
  },
];

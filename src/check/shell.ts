/**
 * Which elements of an argv are code: what a shell or an interpreter parses again. A placeholder there would let an
 * output, an item or an argument become commands.
 */
export function codeElements(argv: readonly string[]): readonly number[] {
  if (argv[0] !== undefined && programName(argv[0]) === 'eval') return argv.map((_, index) => index).slice(1);
  const code: number[] = [];
  for (const [index, element] of argv.entries()) {
    const name = programName(element);
    const language = ANY_PROGRAM.test(name) && LANGUAGES.find(({ program }) => program.test(name));
    if (language) code.push(...codeAfter(argv, index + 1, language));
  }
  return [...new Set(code)];
}

interface Language {
  readonly program: RegExp;
  /** The next element is code. */
  readonly flag: RegExp;
  /** The rest of this element is code. */
  readonly glued?: RegExp;
  /** Options whose value is the next element. */
  readonly valued?: RegExp;
  /** Further options may stand between the flag and the code. */
  readonly optionsFollow?: boolean;
}

const LANGUAGES: readonly Language[] = [
  {
    program: /^(ba|z|da|k|mk|fi|a|tc|c)?sh$/,
    flag: /^-[a-zA-Z]*c[a-zA-Z]*$|^--command$/,
    glued: /^--command=/,
    valued: /^[-+][a-zA-Z]*[oO]$|^--(rcfile|init-file|init-command)$/,
    optionsFollow: true,
  },
  {
    program: /^(node|nodejs|bun|deno|tsx|ts-node)$/,
    flag: /^(-[pi]*[ep]|--eval|--print|eval)$/,
    glued: /^--(eval|print)=/,
    valued: /^(-r|--require|--import|--loader|-C|--conditions|--env-file|--input-type)$/,
  },
  { program: /^(python|pypy)[\d.]*$/, flag: /^-[a-zA-Z]*c$/, glued: /^-[a-zA-Z]*c./, valued: /^-[WX]$/ },
  {
    program: /^(perl|ruby|lua|luajit|osascript|Rscript|elixir|julia)[\d.]*$/,
    flag: /^(-[a-zA-Z]*[eE]|--eval)$/,
    glued: /^(-[eE]|--eval=)./,
    valued: /^-[ICrl]$/,
  },
  { program: /^php[\d.]*$/, flag: /^(-r|--run)$/, glued: /^-r./, valued: /^-[cd]$/ },
  { program: /^(pwsh|powershell)(\.exe)?$/, flag: /^-(c|command|encodedcommand)$/i },
  { program: /^cmd(\.exe)?$/, flag: /^\/[ck]$/i },
  { program: /^env$/, flag: /^(-S|--split-string)$/, glued: /^(-S|--split-string=)./, valued: /^-[uC]$/ },
];

/** Most elements name no program at all. */
const ANY_PROGRAM = new RegExp(LANGUAGES.map(({ program }) => program.source).join('|'));

function codeAfter(argv: readonly string[], from: number, language: Language): readonly number[] {
  for (let index = from; index < argv.length; index++) {
    const element = argv[index]!;
    if (language.glued?.test(element)) return [index];
    if (language.flag.test(element)) {
      let at = index + 1;
      while (language.optionsFollow && at < argv.length - 1 && /^[-+]/.test(argv[at]!)) at += 1;
      return at < argv.length ? [at] : [];
    }
    if (language.valued?.test(element)) index += 1;
    // The first element that is no option is a script file or a value: what follows is data.
    else if (!/^[-+/]/.test(element)) return [];
  }
  return [];
}

function programName(element: string): string {
  return element.slice(element.lastIndexOf('/') + 1);
}

/** A name for the variable that carries a placeholder's value: `steps.scan.output` → `SCAN_OUTPUT`. */
export function variableName(placeholder: string): string {
  const name = placeholder
    .replace(/^(steps|args)\./, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name : `V_${name}`;
}

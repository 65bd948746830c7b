import type { Path } from '../parse/locate.js';
import { type ConditionNode, conditionNodes } from '../plan/condition-parse.js';
import type { CheckContext } from './context.js';
import { type Names, type NearMisses, type NearPlaceholder, nearMisses } from './near-placeholder.js';
import type { Problem } from './problem.js';

type Span = NonNullable<Problem['span']>;

interface NearPlace {
  readonly path: Path;
  readonly text: string;
  /** In the body of a map, in that of a loop. */
  readonly item?: boolean | undefined;
  readonly loop?: boolean | undefined;
}

interface NearOptions {
  readonly context: CheckContext;
  readonly itemName: string;
  readonly warn: (path: Path, message: string, more: { readonly span: Span; readonly hint?: string }) => void;
}

const PROMPTS: readonly unknown[] = ['task', 'systemPrompt', 'judge'];

/** What happens to the unchanged text. */
function fate(path: Path): string {
  return PROMPTS.includes(path.at(-1)) ? 'it would be sent, and paid for, as text' : 'it stays text';
}

/** A placeholder whose braces were forgotten. */
const REFERENCE = /^(?:steps\.[\w-]+\.(?:output|json)|args\.\w|previous\.output|loop\.\w)/;

/** Words of a condition that read like placeholders without braces: they compare as themselves. */
function bareReferences(condition: ConditionNode): readonly string[] {
  const values = conditionNodes(condition).map((node) => (node.type === 'literal' ? node.value : undefined));
  return values.filter((value) => typeof value === 'string').filter((word) => REFERENCE.test(word));
}

/** Warns of misspelt placeholders in the texts of one phase. */
export class NearWarnings {
  /** Words in braces in the body of a map without a near name. */
  readonly #words: { path: Path; word: NearMisses['words'][number] }[] = [];

  constructor(private readonly options: NearOptions) {}

  /** `settled`: offsets with a problem that is already reported. */
  text(place: NearPlace, settled: readonly number[] = []): void {
    const { near, words } = nearMisses(place.text, this.#names(place));
    for (const miss of near) if (!settled.includes(miss.offset)) this.#say(place.path, miss);
    if (place.item) this.#words.push(...words.map((word) => ({ path: place.path, word })));
  }

  /** In code a correct placeholder is an error, too, with the same advice. */
  code(path: Path, text: string, advice: (placeholder: string) => string): void {
    const { near } = nearMisses(text, { ...this.#names({}), isCode: true });
    for (const miss of near) this.#say(path, miss, advice(miss.meant.slice(1, -1)));
  }

  condition(place: NearPlace, condition: ConditionNode): void {
    this.text(place);
    for (const word of bareReferences(condition)) {
      const span = { offset: Math.max(0, place.text.indexOf(word)), length: word.length };
      const hint = `did you mean {${word}}?`;
      this.options.warn(place.path, `${word} is a word here, the same in every run`, { span, hint });
    }
  }

  /** The placeholder that was meant at this place of a condition that does not parse. */
  meantAt(place: NearPlace, offset: number): string | undefined {
    return nearMisses(place.text, this.#names(place)).near.find((miss) => miss.offset === offset)?.meant;
  }

  /** For a map that mentions its item nowhere: words in braces were probably meant as the item. */
  unknownWords(): void {
    const { itemName, warn } = this.options;
    for (const { path, word } of this.#words) {
      const { offset, length, written } = word;
      const [head, ...rest] = written.slice(1, -1).split('.');
      const named = itemName === 'item' ? `, or write as: ${head}` : '';
      const hint = `the item is {${[itemName, ...rest].join('.')}}${named}`;
      warn(path, `${written} is no placeholder: ${fate(path)}`, { span: { offset, length }, hint });
    }
  }

  #names({ item, loop = false }: Pick<NearPlace, 'item' | 'loop'>): Names {
    const { args, phases, itemNames } = this.options.context;
    return { args, phases, itemNames, ...(item && { item: this.options.itemName }), inLoop: loop, isCode: false };
  }

  #say(path: Path, { written, meant, onlyIn, offset, length }: NearPlaceholder, advice?: string): void {
    const { warn } = this.options;
    const span = { offset, length };
    if (onlyIn !== undefined) {
      warn(path, `${written} has a value only in the map "${onlyIn}": ${fate(path)}`, { span });
      return;
    }
    const waits = meant.startsWith('{steps.') ? ' (text waits for no other phase)' : '';
    const hint = advice ?? `did you mean ${meant}?${waits}`;
    warn(path, `${written} is no placeholder: ${fate(path)}`, { span, hint });
  }
}

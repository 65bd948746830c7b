import { isJsonObject, type JsonValue } from '../../model/json.js';
import type { TextBudget } from './text.js';
import type { ObservedView } from './types.js';

const MOST_PATHS = 500;

/** What an execution looked at, where its line says so. The reader of journals does not check this part of a line. */
export function observedOf(value: JsonValue | undefined, texts: TextBudget): ObservedView | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { complete, incomplete } = value;
  const paths = (name: string): readonly string[] => {
    const list = value[name];
    const names = Array.isArray(list) ? list.map((each) => (isJsonObject(each) ? each['path'] : each)) : [];
    return names
      .filter((each) => typeof each === 'string')
      .slice(0, MOST_PATHS)
      .map((path) => texts.short(path, 500));
  };
  return {
    complete: complete === true,
    ...(typeof incomplete === 'string' && { incomplete: texts.short(incomplete, 400) }),
    reads: paths('reads'),
    lists: paths('lists'),
    absent: paths('absent'),
  };
}

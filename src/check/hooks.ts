import { type HookEvent, type Hooks, readHook } from '../model/hooks.js';
import type { JsonValue } from '../model/json.js';
import { FLOW_FIELDS } from '../model/schema/flow.js';
import type { Path } from '../parse/locate.js';
import type { Problems } from './problem.js';
import { checkStructure } from './structure.js';

/** Reads each hook on its own; `onComplete` is another name for `onSuccess`. */
export function readHooks(value: Readonly<Record<string, unknown>>, path: Path, problems: Problems): Hooks | undefined {
  if (!checkStructure(value, FLOW_FIELDS.hooks, { path, problems })) return undefined;
  const hooks = Object.entries(value).map(([name, written]) => {
    const hook = readHook(written as JsonValue);
    if (!hook) {
      problems.error([...path, name], 'bad-value', {
        message: `${name} is no hook`,
        hint: 'write a command ([./notify.sh]), {url: https://…, secret: {env: NAME}} or {file: result.json}',
      });
    }
    return [name === 'onComplete' ? 'onSuccess' : (name as HookEvent), hook] as const;
  });
  if (Object.hasOwn(value, 'onSuccess') && Object.hasOwn(value, 'onComplete')) {
    problems.error([...path, 'onComplete'], 'bad-value', {
      message: 'onComplete is another name for onSuccess: write one of them',
      target: 'key',
    });
  }
  return Object.fromEntries(hooks.filter(([, hook]) => hook)) as Hooks;
}

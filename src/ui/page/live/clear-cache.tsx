import { useSignal } from '@preact/signals';
import { shellWord } from '../../../util/shell-word.js';
import { CommandList } from '../texts.js';
import { ActionButton, CommandOutput, Modal } from './confirm.js';
import type { ActionResult, LiveSource } from './live-source.js';
import { FlowOptions } from './runs-page.js';

interface ClearProps {
  readonly source: LiveSource;
  readonly flows: readonly string[];
  readonly onCleared: () => void;
}

/** Clears the cache, and first shows how many entries the same command would remove. */
export function ClearCache({ source, flows, onCleared }: ClearProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" class="action" onClick={() => (isOpen.value = true)}>
        Clear…
      </button>
      {isOpen.value && (
        <Modal title="Clear kept results" onClose={() => (isOpen.value = false)}>
          <Choice source={source} flows={flows} onCleared={onCleared} onClose={() => (isOpen.value = false)} />
        </Modal>
      )}
    </>
  );
}

function Choice({ source, flows, onCleared, onClose }: ClearProps & { readonly onClose: () => void }) {
  const [flow, phase, olderThan] = [useSignal(''), useSignal(''), useSignal('')];
  const preview = useSignal<ActionResult | undefined>(undefined);
  const isAll = flow.value === '' && phase.value === '' && olderThan.value === '';
  const body = { flow: flow.value, phase: phase.value, olderThan: olderThan.value, all: isAll };
  const words = [
    ...(flow.value === '' ? [] : [flow.value]),
    ...(phase.value === '' ? [] : [`--phase=${phase.value}`]),
    ...(olderThan.value === '' ? [] : [`--older-than=${olderThan.value}`]),
    ...(isAll ? ['--all'] : []),
  ];
  const changed = (field: { value: string }, value: string) => {
    field.value = value;
    preview.value = undefined;
  };
  const look = async () => {
    preview.value = await source.act('clear', { ...body, preview: true });
  };
  return (
    <>
      <div class="fields">
        <label class="field">
          <span class="label">Flow</span>
          <select value={flow.value} onChange={(event) => changed(flow, event.currentTarget.value)}>
            <FlowOptions flows={flows} />
          </select>
        </label>
        <label class="field">
          <span class="label">Phase (empty: all)</span>
          <input value={phase.value} onInput={(event) => changed(phase, event.currentTarget.value)} />
        </label>
        <label class="field">
          <span class="label">Made longer ago than (30d, 12h; empty: any time)</span>
          <input value={olderThan.value} onInput={(event) => changed(olderThan, event.currentTarget.value)} />
        </label>
      </div>
      <CommandList
        of={[[['taskflow cache clear', ...words.map(shellWord)].join(' '), 'does the same in a terminal']]}
      />
      {!preview.value?.ok && (
        <div class="actions">
          <button type="button" class="action is-main" onClick={look}>
            What would go?
          </button>
          <button type="button" class="action" onClick={onClose}>
            Leave it
          </button>
        </div>
      )}
      {preview.value && <CommandOutput acted={preview.value} title="Nothing has gone yet" />}
      {preview.value?.ok && source.decides && (
        <ActionButton
          label="Clear it"
          kind="danger"
          act={() => source.act('clear', body)}
          onDone={({ ok }) => ok && onCleared()}
          onClose={onClose}
        />
      )}
    </>
  );
}

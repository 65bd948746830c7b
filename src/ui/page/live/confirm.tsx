import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CommandList } from '../texts.js';
import type { ActionResult } from './live-source.js';

interface ConfirmProps extends Omit<ActionButtonProps, 'onClose'> {
  readonly title: string;
  /** The same as a command line. */
  readonly command: string;
  readonly children?: ComponentChildren;
}

/** A button that asks for confirmation, and then shows the outcome. */
export function Confirm({ label, title, command, kind, act, onDone, children }: ConfirmProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" class={`action ${kind ? `is-${kind}` : ''}`} onClick={() => (isOpen.value = true)}>
        {label}
      </button>
      {isOpen.value && (
        <Modal title={title} onClose={() => (isOpen.value = false)}>
          {children}
          <CommandList of={[[command, 'does the same in a terminal']]} />
          <ActionButton label={label} kind={kind} act={act} onDone={onDone} onClose={() => (isOpen.value = false)} />
        </Modal>
      )}
    </>
  );
}

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current!.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="modal-title" onClose={onClose}>
      <h2 id="modal-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface ActionButtonProps {
  /** Text on the button. */
  readonly label: string;
  readonly kind?: 'danger' | 'main';
  readonly act: () => Promise<ActionResult>;
  readonly onDone?: (acted: ActionResult) => void;
  readonly onClose: () => void;
}

/** A button that acts once, however often it is clicked. */
export function ActionButton({ label, kind = 'main', act, onDone, onClose }: ActionButtonProps) {
  const state = useSignal<'ready' | 'busy' | ActionResult>('ready');
  const run = async () => {
    if (state.value === 'busy') return;
    state.value = 'busy';
    const acted = await act();
    state.value = acted;
    onDone?.(acted);
  };
  const isOver = typeof state.value === 'object' && state.value.ok;
  return (
    <>
      {typeof state.value === 'object' && <CommandOutput acted={state.value} />}
      <div class="actions">
        {!isOver && (
          <button type="button" class={`action is-${kind}`} disabled={state.value === 'busy'} onClick={run}>
            {state.value === 'busy' ? `${label}…` : label}
          </button>
        )}
        <button type="button" class="action" onClick={onClose}>
          {isOver ? 'Close' : 'Leave it'}
        </button>
      </div>
    </>
  );
}

/** The output of the command. */
export function CommandOutput({ acted, title = 'Done' }: { readonly acted: ActionResult; readonly title?: string }) {
  return (
    <div class={`said is-${acted.ok ? 'reused' : 'failed'}`} role="status">
      <strong>{acted.ok ? title : 'Refused'}</strong>
      {acted.said !== '' && <pre>{acted.said}</pre>}
    </div>
  );
}

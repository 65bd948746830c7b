import { selection, selectPhase } from './state.js';

/** Arrow keys walk through what a view shows; the focus follows the selection. */
export function walk(event: KeyboardEvent, names: readonly string[], at: number): string | undefined {
  const last = names.length - 1;
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last },
    ...{ PageDown: at + 10, PageUp: at - 10 },
  };
  if (!Object.hasOwn(steps, event.key) || names.length === 0 || event.ctrlKey || event.altKey || event.metaKey) {
    return undefined;
  }
  event.preventDefault();
  return names[Math.min(last, Math.max(0, steps[event.key]!))];
}

/** For a view with these phases: which one Tab reaches, and keys that walk from there. */
export function phaseKeys(ids: readonly string[], onEnter?: () => void) {
  const chosen = selection.value.phase;
  const focusable = chosen !== undefined && ids.includes(chosen) ? chosen : ids[0];
  const onKeyDown = (event: KeyboardEvent) => {
    if (onEnter && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      onEnter();
      return;
    }
    const next = walk(event, ids, ids.indexOf(focusable ?? ''));
    if (next === undefined) return;
    selectPhase(next);
    focusPhase(event.currentTarget as Element, next);
  };
  return { focusable, onKeyDown };
}

/** A click handler for a view: chooses the phase that was clicked. */
export function chosenBy(choose: (phase: string) => void): (event: MouseEvent) => void {
  return (event) => {
    const clicked = (event.target as Element).closest<HTMLElement | SVGElement>('[data-phase]');
    const phase = clicked?.dataset['phase'];
    if (phase !== undefined) choose(phase);
  };
}

/** Call it once the selection is drawn. */
export function focusPhase(container: Element, phase: string): void {
  requestAnimationFrame(() => {
    for (const element of container.querySelectorAll<HTMLElement | SVGElement>('[data-phase]')) {
      if (element.dataset['phase'] !== phase) continue;
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  });
}

export function focusDetail(): void {
  document.getElementById('detail')?.focus();
}

/** Moves the focus from the detail back to the selection. */
export function leaveDetail(): void {
  const shown = document.querySelector('.view:not(.is-hidden)');
  const { phase, row } = selection.value;
  if (!shown) return;
  if (row !== undefined) shown.querySelector<HTMLElement>('[role="listbox"]')?.focus();
  else if (phase !== undefined) focusPhase(shown, phase);
}

export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  return target.tagName === 'INPUT' || target.tagName === 'TEXTAREA' || target.isContentEditable;
}

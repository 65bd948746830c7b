import { useState } from 'preact/hooks';
import { plural } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Detail, InputPart, InputsView } from '../view/types.js';
import { Section } from './section.js';
import { CommandList } from './texts.js';

const FOLDED = 8;

interface InputsProps {
  readonly inputs: NonNullable<Detail['inputs']>;
  /** Each item of the phase has its own inputs. */
  readonly hasItems: boolean;
}

/** What a result depends on: the parts of its key, and which of them differ in the other run. */
export function Inputs({ inputs, hasItems }: InputsProps) {
  if ('unknown' in inputs) {
    const text = hasItems ? 'Each item has its own inputs: choose one.' : `Not known: ${oneLine(inputs.unknown)}.`;
    return (
      <Section title="Depends on">
        <p class="none">{text}</p>
      </Section>
    );
  }
  return <Known inputs={inputs} />;
}

function Known({ inputs }: { readonly inputs: InputsView }) {
  const [open, setOpen] = useState(false);
  const { parts, more = 0, key, beside } = inputs;
  const changed = parts.filter(({ was }) => was !== undefined).length;
  const first = Math.max(FOLDED, changed);
  const shown = open ? parts : parts.slice(0, first);
  return (
    <Section title="Depends on">
      {beside !== undefined && (
        <p class="none">
          {changed === 0 ? 'All of it is as in run' : `${changed} of ${parts.length + more} changed since run`}{' '}
          <code>{beside}</code>
        </p>
      )}
      <ul class="inputs">
        {shown.map((part, at) => (
          <Part key={at} part={part} />
        ))}
      </ul>
      {parts.length > first && (
        <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'fold' : `show all ${parts.length}`}
        </button>
      )}
      {more > 0 && <p class="none">and {plural(more, 'other')}</p>}
      {key !== undefined && (
        <CommandList of={[[`taskflow cache show ${key.slice(0, 12)}`, 'the kept result, and all of this']]} />
      )}
    </Section>
  );
}

function Part({ part }: { readonly part: InputPart }) {
  const { name, value, print, was, files } = part;
  return (
    <li class={was === undefined ? '' : 'is-changed'}>
      <span class="input-name">{oneLine(name)}</span>
      <span class="note">{value === undefined ? '' : oneLine(value)}</span>
      {was === undefined ? (
        <code>{print}</code>
      ) : (
        <span class="input-change">
          <strong>{print === '' ? 'gone' : was === '' ? 'new' : 'changed'}</strong>{' '}
          <code>{[was, print].filter(Boolean).join(' → ')}</code>
          {files && <span class="input-files">{files.map(oneLine).join(', ')}</span>}
        </span>
      )}
    </li>
  );
}

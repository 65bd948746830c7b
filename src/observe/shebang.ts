import { closeSync, openSync, readSync } from 'node:fs';

const MOST = 256;
const ELF = '\x7fELF';

/** How the kernel starts a file: as a binary, with an interpreter, or not at all (a shell may still run it). */
type Start = 'elf' | { readonly interpreter: string } | undefined;

export function startOf(file: string): Start {
  const head = headOf(file);
  if (head.startsWith(ELF)) return 'elf';
  const interpreter = /^#![ \t]*([^\s\0]+)/.exec(head)?.[1];
  return interpreter === undefined ? undefined : { interpreter };
}

function headOf(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(MOST);
      return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, MOST, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // A file that cannot be read may still be started.
    return '';
  }
}

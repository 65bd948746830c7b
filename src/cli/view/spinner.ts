const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function spinner(tick: number): string {
  return FRAMES[tick % FRAMES.length]!;
}

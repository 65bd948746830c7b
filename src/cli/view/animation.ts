const FRAME_MS = 100;
/** Shorter runs are never animated. */
const FIRST_FRAME_MS = 60;

/** Frames of a live picture, from the first sign of life until it is halted. */
interface Animation {
  start(): void;
  halt(): void;
  /** Draws at once, if the animation is on. */
  redraw(): void;
}

export function createAnimation(draw: (tick: number) => void): Animation {
  let tick = 0;
  let timer: NodeJS.Timeout | undefined;
  const frame = () => {
    tick++;
    draw(tick);
    timer = setTimeout(frame, FRAME_MS);
  };
  return {
    start() {
      timer ??= setTimeout(frame, FIRST_FRAME_MS);
    },
    halt() {
      clearTimeout(timer);
      timer = undefined;
    },
    redraw() {
      if (timer !== undefined) draw(tick);
    },
  };
}

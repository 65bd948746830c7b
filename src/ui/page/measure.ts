import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** How wide an element is; measured again when that changes. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  return useSize(element, 'clientWidth', 1_000);
}

export function useHeight(element: RefObject<HTMLElement | null>, first: number): number {
  return useSize(element, 'clientHeight', first);
}

function useSize(element: RefObject<HTMLElement | null>, what: 'clientWidth' | 'clientHeight', first: number): number {
  const [size, setSize] = useState(first);
  useEffect(() => {
    const measured = element.current!;
    const measure = () => setSize(measured[what]);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return size;
}

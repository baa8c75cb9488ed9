// A long list of rows of any height, made block by block as they come into sight.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const BLOCK = 32;
/** So many blocks are made at once, and after a rest one by one until there are so many, in sight or not: short lists are
 * whole. */
const AT_ONCE = 2;
const WHOLE = 10;
/** Milliseconds. A drag passes over many lists. */
const REST = 300;

interface BlocksProps<T> {
  items: readonly T[];
  /** The usual height of a row, in pixels; blocks out of sight keep the height they had. */
  row: number;
  /** An item that is made, wherever it is. */
  wanted?: number | undefined;
  render(item: T, position: number): ComponentChildren;
}

export function Blocks<T>({ items, row, wanted, render }: BlocksProps<T>) {
  const starts = Array.from({ length: Math.ceil(items.length / BLOCK) }, (_, i) => i * BLOCK);
  const [so, setSo] = useState({ items, made: AT_ONCE });
  const made = so.items === items ? so.made : AT_ONCE;
  useEffect(() => {
    if (made >= Math.min(WHOLE, starts.length)) return undefined;
    const timer = setTimeout(() => setSo({ items, made: made + 1 }), made === AT_ONCE ? REST : 0);
    return () => clearTimeout(timer);
  }, [items, made]);
  return (
    <>
      {starts.map((start, i) => (
        <Block key={start} items={items} start={start} row={row} made={i < made || (wanted !== undefined && wanted >= start && wanted < start + BLOCK)} render={render} />
      ))}
    </>
  );
}

function Block<T>({ items, start, row, made, render }: Omit<BlocksProps<T>, "wanted"> & { start: number; made: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(made);
  const height = useRef(0);
  const shown = items.slice(start, start + BLOCK);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new IntersectionObserver(
      (entries) => {
        const inSight = entries.at(-1)?.isIntersecting ?? false;
        if (!inSight && element.childElementCount > 0) height.current = element.offsetHeight;
        setSeen(inSight);
      },
      { rootMargin: "400px" },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  if (seen || made) return <div ref={box}>{shown.map((item, i) => render(item, start + i))}</div>;
  return <div ref={box} style={{ height: `${height.current || shown.length * row}px` }} />;
}

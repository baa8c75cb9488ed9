// A drawing in small, with the part of it that is in sight: only where not all of it is.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Layout } from "../../logic/graph";

interface MinimapProps {
  /** The element that scrolls the drawing. */
  box: RefObject<HTMLDivElement | null>;
  layout: Layout;
  margin: number;
  scale: number;
  current: number | null;
}

interface View {
  left: number;
  top: number;
  width: number;
  height: number;
}

const SIZE = { width: 130, height: 120 };

/** It only helps the pointer; the keyboard has the boxes themselves. */
export function Minimap({ box, layout, margin, scale, current }: MinimapProps) {
  const [view, setView] = useState<View | null>(null);
  const width = layout.width + 2 * margin;
  const height = layout.height + 2 * margin;

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setView({ left: element.scrollLeft / scale, top: element.scrollTop / scale, width: element.clientWidth / scale, height: element.clientHeight / scale });
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    element.addEventListener("scroll", measure);
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [box, scale, layout]);

  if (!view || view.width === 0 || (view.width >= width && view.height >= height)) return null;
  const ratio = Math.min(SIZE.width / width, SIZE.height / height);
  const go = (event: PointerEvent): void => {
    const element = box.current;
    const here = event.currentTarget as Element;
    if (!element || event.buttons !== 1) return;
    const { left, top } = here.getBoundingClientRect();
    element.scrollLeft = ((event.clientX - left) / ratio - view.width / 2) * scale;
    element.scrollTop = ((event.clientY - top) / ratio - view.height / 2) * scale;
  };
  return (
    <svg
      class="tw-minimap"
      data-testid="minimap"
      aria-hidden="true"
      width={Math.max(8, width * ratio)}
      height={Math.max(8, height * ratio)}
      viewBox={`-${margin} -${margin} ${width} ${height}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    >
      {layout.boxes.map((at) => (
        <rect key={at.node} class={at.node === current ? "tw-current" : undefined} x={at.x - at.width / 2} y={at.y - at.height / 2} width={at.width} height={at.height} />
      ))}
      <rect
        class="tw-minimap-view"
        x={Math.max(0, view.left) - margin}
        y={Math.max(0, view.top) - margin}
        width={Math.min(view.width, width)}
        height={Math.min(view.height, height)}
      />
    </svg>
  );
}

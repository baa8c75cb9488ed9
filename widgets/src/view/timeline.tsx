// The inlining depth of all steps, with marks; drag, or use the keys, to change the step.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { MARKS, picture } from "../logic/timeline";
import type { Model } from "../model";

const HEIGHT = 58;
const CURVE = 34;
/** Up to this many breaks are drawn over the whole height. */
const FEW = 40;
const ROW = (HEIGHT - CURVE - 2) / MARKS.length;

export function Timeline({ model, theme }: { model: Model; theme: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const steps = model.visible.value;
  const drawn = useMemo(() => (width > 0 ? picture(model.index, steps, width) : null), [model, steps, width]);

  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !drawn) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(HEIGHT * ratio);
    const context = element.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(`--tw-${name}`).trim() || "gray";
    const column = width / drawn.depth.length;
    const unit = (CURVE - 6) / (drawn.deepest + 1);
    const [mine, library] = [colour("mine"), colour("depth")];
    drawn.depth.forEach((depth, i) => {
      context.fillStyle = drawn.mine[i] ? mine : library;
      context.fillRect(i * column, CURVE - (depth + 1) * unit, Math.ceil(column), (depth + 1) * unit);
    });
    MARKS.forEach((mark, row) => {
      context.fillStyle = colour(`mark-${mark}`);
      const top = CURVE + 2 + row * ROW;
      drawn.marks[mark].forEach((there, i) => {
        if (there) context.fillRect(i * column, top, Math.max(2, Math.min(column, 3)), ROW - 1);
      });
    });
    if (model.meta.breaks.length > FEW) return;
    drawn.marks.break.forEach((there, i) => {
      if (there) context.fillRect(i * column, 0, 1, HEIGHT);
    });
  }, [drawn, width, theme, model]);

  const at = (event: PointerEvent): void => {
    const element = event.currentTarget as HTMLElement;
    const box = element.getBoundingClientRect();
    const to = steps.at_ordinal(((event.clientX - box.left) / Math.max(1, box.width)) * steps.count);
    if (to !== null) model.go(to);
  };
  const share = (steps.ordinal(model.position.value) + 0.5) / Math.max(1, steps.count);

  return (
    <div
      class="tw-timeline"
      data-testid="timeline"
      role="slider"
      tabIndex={0}
      aria-label="Timeline: inlining depth over the steps"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, model.meta.steps - 1)}
      aria-valuenow={model.position.value}
      aria-valuetext={`step ${model.position.value} of ${model.meta.steps}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        at(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons & 1) at(event);
      }}
    >
      <canvas ref={canvas} style={{ width: "100%", height: `${HEIGHT}px` }} />
      <span class="tw-needle" style={{ left: `${100 * share}%` }} />
    </div>
  );
}

export function Legend() {
  return (
    <div class="tw-legend" aria-hidden="true">
      <span>
        <i style={{ background: "var(--tw-mine)" }} />
        my code
      </span>
      {MARKS.map((mark) => (
        <span key={mark}>
          <i style={{ background: `var(--tw-mark-${mark})` }} />
          {mark}
        </span>
      ))}
    </div>
  );
}

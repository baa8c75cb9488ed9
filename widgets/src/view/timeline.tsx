// The inlining depth of the steps, with versions above and marks below: drag to go, wheel to zoom and pan, hover to read.
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { run } from "../commands";
import { type Mark, markedSteps, markNear, MARKS, moved, picture, type Picture, showing, wholeRange, zoomed } from "../logic/timeline";
import type { Model } from "../model";
import { codeLabel, place, wholeLabel } from "./parts";

const BANDS = 11;
const CURVE = 42;
const ROW = 5;
const HEIGHT = CURVE + 2 + ROW * MARKS.length;
/** Up to this many breaks are drawn over the whole height. */
const FEW = 40;
/** A mark is hit from so many pixels away. */
const REACH = 5;

export function Timeline({ model, theme }: { model: Model; theme: string }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [hovered, hover] = useState<{ x: number; y: number } | null>(null);
  const steps = model.visible.value;
  const ordinal = steps.ordinal(model.position.value);
  const wanted = model.range.value;
  const range = useMemo(() => wanted ?? wholeRange(steps.count), [wanted, steps]);
  const drawn = useMemo(() => (width > 0 ? picture(model.index, steps, width, range) : null), [model, steps, width, range]);
  const marked = useMemo(() => markedSteps(model.index), [model]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);

  // The position stays in sight.
  useEffect(() => {
    if (wanted) model.range.value = showing(wanted, steps.count, ordinal);
  }, [ordinal]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const onWheel = (event: WheelEvent): void => {
      const now = model.range.peek() ?? wholeRange(model.visible.peek().count);
      const { count } = model.visible.peek();
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      // Zoomed out already, the wheel is the page's.
      if (model.range.peek() === null && (sideways !== 0 || event.deltaY > 0)) return;
      event.preventDefault();
      const frame = element.getBoundingClientRect();
      model.range.value =
        sideways !== 0
          ? moved(now, count, Math.round((sideways / Math.max(1, frame.width)) * (now.to - now.from)))
          : zoomed(now, count, (event.clientX - frame.left) / Math.max(1, frame.width), Math.exp(event.deltaY / 300));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [model]);

  useLayoutEffect(() => {
    if (canvas.current && drawn) paint(canvas.current, drawn, width, model.meta.breaks.length <= FEW);
  }, [drawn, width, theme, model]);

  const pointed = (event: PointerEvent): { x: number; y: number } => {
    const frame = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  const size = range.to - range.from;
  const ordinalAt = (x: number): number => range.from + (x / Math.max(1, width)) * size;
  const reach = (REACH / Math.max(1, width)) * size;
  /** The mark at a place, and its step. */
  const hit = ({ x, y }: { x: number; y: number }): { mark: Mark; step: number } | null => {
    const row = Math.floor((y - CURVE - 2) / ROW);
    // Near a row its own marks come first; elsewhere, breaks.
    for (const mark of row >= 0 ? [MARKS[Math.min(row, MARKS.length - 1)] ?? "break"] : (["break"] as const)) {
      const step = markNear(marked[mark], steps, ordinalAt(x), row >= 0 ? reach : reach / 2);
      if (step !== null) return { mark, step };
    }
    return null;
  };
  const at = (event: PointerEvent, means: "jump" | "drag"): void => {
    const there = pointed(event);
    const to = (means === "jump" ? hit(there)?.step : null) ?? steps.at_ordinal(ordinalAt(there.x));
    if (to !== null) model.go(to, means);
  };
  const share = (ordinal + 0.5 - range.from) / size;

  return (
    <div
      ref={box}
      class="tw-timeline"
      data-testid="timeline"
      role="slider"
      tabIndex={0}
      aria-label="Timeline: inlining depth over the steps"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, model.meta.steps - 1)}
      aria-valuenow={model.position.value}
      aria-valuetext={`step ${model.position.value} of ${model.meta.steps}`}
      data-range={`${range.from} ${range.to}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        hover(null);
        at(event, "jump");
      }}
      onPointerMove={(event) => {
        if (event.buttons & 1) at(event, "drag");
        else hover(pointed(event));
      }}
      onPointerLeave={() => hover(null)}
    >
      <canvas ref={canvas} style={{ width: "100%", height: `${HEIGHT}px` }} />
      {share >= 0 && share <= 1 && <span class="tw-needle" style={{ left: `${100 * share}%` }} />}
      {hovered && drawn && <Tip model={model} x={hovered.x} width={width} step={hit(hovered)?.step ?? steps.at_ordinal(ordinalAt(hovered.x))} mark={hit(hovered)?.mark ?? null} />}
    </div>
  );
}

function paint(element: HTMLCanvasElement, drawn: Picture, width: number, fewBreaks: boolean): void {
  const ratio = window.devicePixelRatio || 1;
  element.width = Math.round(width * ratio);
  element.height = Math.round(HEIGHT * ratio);
  const context = element.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(`--tw-${name}`).trim() || "gray";
  const column = width / drawn.depth.length;
  const unit = (CURVE - BANDS - 4) / (drawn.deepest + 1);
  const [mine, library] = [colour("mine"), colour("depth")];
  drawn.depth.forEach((depth, i) => {
    context.fillStyle = drawn.mine[i] ? mine : library;
    context.fillRect(i * column, CURVE - (depth + 1) * unit, Math.ceil(column), (depth + 1) * unit);
  });
  const hatch = hatching(context, colour("bg"));
  drawn.bands.forEach(({ from, to, failed }, i) => {
    const [left, wide] = [from * width, Math.max(1, (to - from) * width - 1)];
    context.fillStyle = colour(i % 2 === 0 ? "band" : "band-other");
    context.fillRect(left, 1, wide, BANDS - 4);
    if (!failed || !hatch) return;
    context.fillStyle = hatch;
    context.fillRect(left, 1, wide, CURVE - 1);
  });
  MARKS.forEach((mark, row) => {
    context.fillStyle = colour(`mark-${mark}`);
    const top = CURVE + 2 + row * ROW;
    drawn.marks[mark].forEach((there, i) => {
      if (there) context.fillRect(i * column, top, Math.max(2, Math.min(column, 3)), ROW - 1);
    });
  });
  if (!fewBreaks) return;
  drawn.marks.break.forEach((there, i) => {
    if (there) context.fillRect(i * column, BANDS - 2, 1, HEIGHT - BANDS);
  });
}

/** Lines aslant, for what was given up. */
function hatching(context: CanvasRenderingContext2D, colour: string): CanvasPattern | null {
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [6, 6];
  const pen = tile.getContext("2d");
  if (!pen) return null;
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

interface TipProps {
  model: Model;
  x: number;
  width: number;
  step: number | null;
  mark: Mark | null;
}

/** What is at a place of the timeline. */
function Tip({ model, x, width, step, mark }: TipProps) {
  if (step === null) return null;
  const { index, meta } = model;
  const attempt = index.attemptAt(step);
  const compilation = meta.compilations[attempt.compilation];
  const marked = mark && markText(model, mark, step);
  return (
    <span class="tw-tip" data-testid="tip" aria-hidden="true" style={x > width / 2 ? { right: `${Math.max(0, width - x - 20)}px` } : { left: `${Math.max(0, x - 20)}px` }}>
      <b>step {step}</b> {codeLabel(model, index.codeAt(step).id)} <span class="tw-dim">{place(model, index.codeAt(step).id, index.lineAt(step))}</span>
      {marked && <span class={`tw-block tw-tip-${mark}`}>{marked}</span>}
      {compilation && (
        <span class="tw-block tw-dim">
          in version {compilation.version} of {wholeLabel(model, compilation.code)}
          {attempt.outcome === "restarted" && ", given up"}
        </span>
      )}
    </span>
  );
}

function markText(model: Model, mark: Mark, step: number): string {
  const { index } = model;
  if (mark === "node") return `node ${index.nodes.get(step).map((node) => node.name).join(", ")}`;
  if (mark === "guard") return `guard ${index.guards.get(step)[0]?.text ?? ""}`;
  if (mark === "break") return `break: ${index.breaks.get(step)[0]?.message ?? ""}`;
  return mark === "restart" ? "the tracer starts again here" : `call of ${codeLabel(model, index.codeAt(step).id)}`;
}

export function Legend({ model }: { model: Model }) {
  const zoomedIn = useComputed(() => model.range.value !== null).value;
  return (
    <div class="tw-legend">
      <span class="tw-legend-marks" aria-hidden="true">
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
      </span>
      <span class="tw-zoom">
        <button type="button" class="tw-button" data-testid="zoomIn" aria-label="Fewer steps in the timeline" title="Fewer steps in the timeline (+, or the wheel)" onClick={() => run(model, "zoomIn")}>+</button>
        <button type="button" class="tw-button" data-testid="zoomOut" disabled={!zoomedIn} aria-label="More steps in the timeline" title="More steps in the timeline (-, or the wheel)" onClick={() => run(model, "zoomOut")}>−</button>
      </span>
    </div>
  );
}

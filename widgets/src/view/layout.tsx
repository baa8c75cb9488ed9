// The sizes of the explorer's parts: dragged or typed at the lines between them, and remembered.
import { type Signal, signal } from "@preact/signals";

const KEY = "tracewalk.layout";

/** Shares of the width, or of the height: `main` is what source and values take of the height that the pane shares. */
export interface Sizes {
  frames: number;
  values: number;
  main: number;
}

export const DEFAULT: Sizes = { frames: 0.19, values: 0.33, main: 0.48 };
const LIMITS: Record<keyof Sizes, [number, number]> = { frames: [0.08, 0.4], values: [0.15, 0.6], main: [0.15, 0.85] };

const fitting = (name: keyof Sizes, share: number): number => Math.min(LIMITS[name][1], Math.max(LIMITS[name][0], share));

/** The remembered sizes; where nothing can be remembered, the usual ones. */
export function rememberedSizes(): Sizes {
  const sizes = { ...DEFAULT };
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Record<keyof Sizes, unknown>>;
    for (const name of Object.keys(DEFAULT) as (keyof Sizes)[]) {
      const share = known[name];
      if (typeof share === "number" && Number.isFinite(share)) sizes[name] = fitting(name, share);
    }
  } catch {
    return { ...DEFAULT }; // a sandboxed frame has no storage
  }
  return sizes;
}

export function sizesSignal(): Signal<Sizes> {
  return signal(rememberedSizes());
}

function remember(sizes: Signal<Sizes>, name: keyof Sizes, share: number): void {
  sizes.value = { ...sizes.peek(), [name]: fitting(name, share) };
  try {
    localStorage.setItem(KEY, JSON.stringify(sizes.value));
  } catch {
    return; // it holds for this page, then
  }
}

export const sizesStyle = ({ frames, values, main }: Sizes): Record<string, string> => ({
  "--tw-frames": `${(100 * frames).toFixed(2)}%`,
  "--tw-values": `${(100 * values).toFixed(2)}%`,
  "--tw-main": `${main.toFixed(4)}fr`,
  "--tw-rest": `${(1 - main).toFixed(4)}fr`,
});

interface SplitterProps {
  sizes: Signal<Sizes>;
  name: keyof Sizes;
  label: string;
}

const STEP = 0.02;

/** The line between two parts, which can be moved by mouse and by arrow keys. A double click puts it back. */
export function Splitter({ sizes, name, label }: SplitterProps) {
  const upright = name !== "main";
  const onPointerMove = (event: PointerEvent): void => {
    if (!(event.buttons & 1)) return;
    const element = event.currentTarget as HTMLElement;
    const all = element.closest<HTMLElement>(upright ? ".tw-main" : ".tw-frame-all")?.getBoundingClientRect();
    if (!all) return;
    if (name === "frames") remember(sizes, name, (event.clientX - all.left) / all.width);
    else if (name === "values") remember(sizes, name, (all.right - event.clientX) / all.width);
    else {
      const top = element.closest(".tw-frame-all")?.querySelector(".tw-main")?.getBoundingClientRect().top ?? all.top;
      remember(sizes, name, (event.clientY - top) / (all.bottom - top - element.offsetParent!.clientHeight));
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    remember(sizes, name, sizes.value[name] + (name === "values" ? -by : by));
  };
  return (
    <div
      class={`tw-splitter ${upright ? "tw-upright" : "tw-level"}`}
      role="separator"
      tabIndex={0}
      aria-orientation={upright ? "vertical" : "horizontal"}
      aria-label={label}
      aria-valuenow={Math.round(100 * sizes.value[name])}
      aria-valuemin={Math.round(100 * LIMITS[name][0])}
      aria-valuemax={Math.round(100 * LIMITS[name][1])}
      data-testid={`splitter-${name}`}
      title={`${label}: drag, or use the arrow keys; a double click puts it back`}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDblClick={() => remember(sizes, name, DEFAULT[name])}
      onKeyDown={onKeyDown}
    />
  );
}

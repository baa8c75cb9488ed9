// The target of each way of stepping. Pure: (trace, visible steps, step) -> step, or null where there is nothing that way.
import { lowerBound, type TraceIndex, upperBound } from "./trace";
import type { VisibleSteps } from "./visible";

export interface Ground {
  index: TraceIndex;
  visible: VisibleSteps;
  /** Whether only steps of the user's own code are stopped at. */
  mine: boolean;
}

/** Whether stepping may stop at `step`: with `mine`, not in a library. */
const stops = ({ index, mine }: Ground, step: number): boolean => !mine || index.mineAt(step);

type Walk = (ground: Ground, step: number) => number | null;

/** A way of stepping: its two directions. */
export interface Way {
  label: string;
  next: Walk;
  previous: Walk;
}

function scan(ground: Ground, step: number, direction: "next" | "previous", wanted: (step: number) => boolean): number | null {
  for (let at = ground.visible[direction](step); at !== null; at = ground.visible[direction](at)) if (wanted(at)) return at;
  return null;
}

/** The next (or previous) visible step of a sorted list that `wanted` accepts. */
function listed(steps: (index: TraceIndex) => ArrayLike<number>, wanted: (ground: Ground, step: number) => boolean = () => true): Pick<Way, "next" | "previous"> {
  return {
    next(ground, step) {
      const all = steps(ground.index);
      for (let i = upperBound(all, step); i < all.length; i++) if (ground.visible.has(all[i] as number) && wanted(ground, all[i] as number)) return all[i] as number;
      return null;
    },
    previous(ground, step) {
      const all = steps(ground.index);
      for (let i = lowerBound(all, step) - 1; i >= 0; i--) if (ground.visible.has(all[i] as number) && wanted(ground, all[i] as number)) return all[i] as number;
      return null;
    },
  };
}

const sameLine = ({ index }: Ground, a: number, b: number): boolean =>
  index.frame[a] === index.frame[b] && index.lineAt(a) === index.lineAt(b);

/** Whether `step` is one that CPython takes at each start of a function, which is no line of the program's. */
const prologue = ({ index }: Ground, step: number): boolean => step < index.begin(index.frameAt(step));

/** The next line of this frame, or, where it ends, of the frame that continues; calls are stepped over. Where nothing
 * follows, as in a cell of one line, into what the line calls. */
function nextLine(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  const next = scan(ground, step, "next", (at) => ground.index.depthAt(at) <= depth && stops(ground, at) && !prologue(ground, at) && !sameLine(ground, at, step));
  return next ?? into(ground, step);
}

/** Back to where the current line began, or when there, to where the one before it began. */
function previousLine(ground: Ground, step: number): number | null {
  const start = lineStart(ground, step);
  if (start !== step) return start;
  const depth = ground.index.depthAt(step);
  const before = scan(ground, step, "previous", (at) => ground.index.depthAt(at) <= depth && stops(ground, at) && !prologue(ground, at));
  return before === null ? null : lineStart(ground, before);
}

function lineStart(ground: Ground, step: number): number {
  const depth = ground.index.depthAt(step);
  let start = step;
  for (let at = ground.visible.previous(step); at !== null; at = ground.visible.previous(at)) {
    if (ground.index.depthAt(at) > depth) continue;
    if (!sameLine(ground, at, step) || prologue(ground, at)) break;
    start = at;
  }
  return start;
}

/** Into the next function that the current frame calls; of the user's own, also where a library calls it. */
export function into(ground: Ground, step: number): number | null {
  const { index, visible, mine } = ground;
  const frame = index.frame[step];
  const depth = index.depthAt(step);
  for (let i = upperBound(index.calls, step); i < index.calls.length; i++) {
    const at = index.calls[i] as number;
    if (index.depthAt(at) <= depth || index.attemptAt(at) !== index.attemptAt(step)) return null;
    if (mine ? index.mineAt(at) : index.frameAt(at).parent === frame) return visible.has(at) ? at : null;
  }
  return null;
}

/** The next instruction of this frame (or its caller's), over what it calls. */
export function over(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  return scan(ground, step, "next", (at) => ground.index.depthAt(at) <= depth && stops(ground, at));
}

/** Out to the caller, after the call. */
export function out(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  return depth === 0 ? null : scan(ground, step, "next", (at) => ground.index.depthAt(at) < depth && stops(ground, at));
}

/** Back to the instruction that called this frame. */
export function caller(ground: Ground, step: number): number | null {
  let call = ground.index.frameAt(step).call_step;
  while (call !== null && !stops(ground, call)) call = ground.index.frameAt(call).call_step;
  return call !== null && ground.visible.has(call) ? call : null;
}

/** The first step that does something, in the user's own code if there is any. */
export function start({ index, visible, mine }: Ground): number | null {
  if (!mine) return visible.first;
  for (const frame of index.meta.frames) {
    const at = index.begin(frame);
    if (frame.last_step >= frame.first_step && index.mineAt(at) && visible.has(at)) return at;
  }
  return visible.first;
}

/** Over the body of an operator that `step` is in, or over those that it calls: to the first step after. */
export function overBody({ index, visible }: Ground, step: number): number | null {
  const inside = index.bodiesAt(step).at(-1);
  const called = index.meta.bodies.filter((body) => body.step === step);
  const last = called.length > 0 ? Math.max(...called.map((body) => body.last_step)) : inside?.last_step;
  return last === undefined ? null : visible.next(Math.max(last, step));
}

export const WAYS = {
  instruction: {
    label: "instruction",
    next: (ground, step) => scan(ground, step, "next", (at) => stops(ground, at)),
    previous: (ground, step) => scan(ground, step, "previous", (at) => stops(ground, at)),
  },
  line: { label: "line", next: nextLine, previous: previousLine },
  call: { label: "call", ...listed((index) => index.calls, stops) },
  body: { label: "body", ...listed((index) => index.bodyStarts) },
  node: { label: "node", ...listed((index) => index.nodes.steps) },
  guard: { label: "guard", ...listed((index) => index.guards.steps) },
  place: { label: "break", ...listed((index) => index.breakPlaces) },
  break: { label: "break, each", ...listed((index) => index.breaks.steps) },
} satisfies Record<string, Way>;

export type By = keyof typeof WAYS;

// The target of each way of stepping. Pure: (trace, visible steps, step) -> step, or null where there is nothing that way.
import { lowerBound, type TraceIndex, upperBound } from "./trace";
import type { VisibleSteps } from "./visible";

export interface Ground {
  index: TraceIndex;
  visible: VisibleSteps;
}

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

/** The next (or previous) visible step of a sorted list. */
function listed(steps: (index: TraceIndex) => ArrayLike<number>): Pick<Way, "next" | "previous"> {
  return {
    next({ index, visible }, step) {
      const all = steps(index);
      for (let i = upperBound(all, step); i < all.length; i++) if (visible.has(all[i] as number)) return all[i] as number;
      return null;
    },
    previous({ index, visible }, step) {
      const all = steps(index);
      for (let i = lowerBound(all, step) - 1; i >= 0; i--) if (visible.has(all[i] as number)) return all[i] as number;
      return null;
    },
  };
}

const sameLine = ({ index }: Ground, a: number, b: number): boolean =>
  index.frame[a] === index.frame[b] && index.lineAt(a) === index.lineAt(b);

/** The next line of this frame, or, where it ends, of the frame that continues; calls are stepped over. */
function nextLine(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  return scan(ground, step, "next", (at) => ground.index.depthAt(at) <= depth && !sameLine(ground, at, step));
}

/** Back to where the current line began, or when there, to where the one before it began. */
function previousLine(ground: Ground, step: number): number | null {
  const start = lineStart(ground, step);
  if (start !== step) return start;
  const depth = ground.index.depthAt(step);
  const before = scan(ground, step, "previous", (at) => ground.index.depthAt(at) <= depth);
  return before === null ? null : lineStart(ground, before);
}

function lineStart(ground: Ground, step: number): number {
  const depth = ground.index.depthAt(step);
  let start = step;
  for (let at = ground.visible.previous(step); at !== null; at = ground.visible.previous(at)) {
    if (ground.index.depthAt(at) > depth) continue;
    if (!sameLine(ground, at, step)) break;
    start = at;
  }
  return start;
}

/** Into the next function that the current frame calls. */
export function into(ground: Ground, step: number): number | null {
  const frame = ground.index.frame[step];
  const calls = ground.index.calls;
  for (let i = upperBound(calls, step); i < calls.length; i++) {
    const at = calls[i] as number;
    const entered = ground.index.frameAt(at);
    if (entered.parent === frame) return ground.visible.has(at) ? at : null;
    if (ground.index.depthAt(at) <= ground.index.depthAt(step)) return null;
  }
  return null;
}

/** The next instruction of this frame (or its caller's), over what it calls. */
export function over(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  return scan(ground, step, "next", (at) => ground.index.depthAt(at) <= depth);
}

/** Out to the caller, after the call. */
export function out(ground: Ground, step: number): number | null {
  const depth = ground.index.depthAt(step);
  return depth === 0 ? null : scan(ground, step, "next", (at) => ground.index.depthAt(at) < depth);
}

/** Back to the instruction that called this frame. */
export function caller(ground: Ground, step: number): number | null {
  const call = ground.index.frameAt(step).call_step;
  return call !== null && ground.visible.has(call) ? call : null;
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
    next: ({ visible }, step) => visible.next(step),
    previous: ({ visible }, step) => visible.previous(step),
  },
  line: { label: "line", next: nextLine, previous: previousLine },
  call: { label: "call", ...listed((index) => index.calls) },
  body: { label: "body", ...listed((index) => index.bodyStarts) },
  node: { label: "node", ...listed((index) => index.nodes.steps) },
  guard: { label: "guard", ...listed((index) => index.guards.steps) },
  break: { label: "break", ...listed((index) => index.breaks.steps) },
} satisfies Record<string, Way>;

export type By = keyof typeof WAYS;

// The timeline's picture, reduced to a column of pixels a bucket, so that a million steps cost what a thousand do.
import { lowerBound, type TraceIndex } from "./trace";
import type { VisibleSteps } from "./visible";

/** What is marked below the depth curve, in the order of its rows. */
export const MARKS = ["call", "node", "guard", "restart", "break"] as const;
export type Mark = (typeof MARKS)[number];

/** A part of the visible steps, by their ordinals; `to` is not in it. */
export interface Range {
  from: number;
  to: number;
}

/** Fewer steps than this are not shown. */
const LEAST = 20;

export const wholeRange = (count: number): Range => ({ from: 0, to: Math.max(1, count) });

/** `range` with `factor` times as many steps, of which that at the share `around` stays in its place; null is all. */
export function zoomed(range: Range, count: number, around: number, factor: number): Range | null {
  const size = Math.max(Math.min(LEAST, count), Math.round((range.to - range.from) * factor));
  if (size >= count) return null;
  return moved({ from: range.from + around * (range.to - range.from - size), to: range.from + around * (range.to - range.from - size) + size }, count, 0);
}

/** `range`, moved by so many steps, as far as there are any. */
export function moved({ from, to }: Range, count: number, by: number): Range {
  const size = Math.round(to - from);
  const start = Math.round(Math.min(Math.max(0, from + by), count - size));
  return { from: start, to: start + size };
}

/** `range`, moved as little as shows `ordinal`, with some steps around it. */
export function showing(range: Range, count: number, ordinal: number): Range {
  if (ordinal >= range.from && ordinal < range.to) return range;
  const size = range.to - range.from;
  return moved(range, count, ordinal < range.from ? ordinal - range.from - size / 4 : ordinal - range.to + size / 4);
}

/** The steps of an attempt that are in the picture, as shares of its width. */
export interface Band {
  from: number;
  to: number;
  attempt: number;
  /** Whether it was given up. */
  failed: boolean;
}

export interface Picture {
  /** Deepest inlining in each bucket, 0 for the root. */
  depth: Uint16Array;
  deepest: number;
  /** 1 where a bucket has a step of the user's own code. */
  mine: Uint8Array;
  /** By mark: 1 where a bucket has one. */
  marks: Record<Mark, Uint8Array>;
  bands: Band[];
}

/** The steps of each mark, sorted. */
export function markedSteps(index: TraceIndex): Record<Mark, ArrayLike<number>> {
  const restarts = Uint32Array.from(index.meta.attempts.filter((a) => a.number > 1), (a) => a.first_step).sort();
  return { call: index.calls, node: index.nodes.steps, guard: index.guards.steps, restart: restarts, break: index.breaks.steps };
}

/** The picture of the visible steps of `range` in `buckets` columns (at least one; no more than there are steps). */
export function picture(index: TraceIndex, visible: VisibleSteps, buckets: number, range: Range = wholeRange(visible.count)): Picture {
  const count = Math.max(1, range.to - range.from);
  const width = Math.max(1, Math.min(Math.floor(buckets), count));
  const depth = new Uint16Array(width);
  const mine = new Uint8Array(width);
  const scale = width / count;
  let deepest = 0;
  let ordinal = 0;
  for (const [first, last] of within(visible, range))
    for (let step = first; step <= last; step++, ordinal++) {
      const bucket = (ordinal * scale) | 0;
      const here = index.depthAt(step);
      if (here > (depth[bucket] as number)) depth[bucket] = here;
      if (here > deepest) deepest = here;
      if (index.mineAt(step)) mine[bucket] = 1;
    }
  const mark = (steps: ArrayLike<number>): Uint8Array => {
    const row = new Uint8Array(width);
    for (const [first, last] of within(visible, range))
      for (let i = lowerBound(steps, first); i < steps.length && (steps[i] as number) <= last; i++)
        row[((visible.ordinal(steps[i] as number) - range.from) * scale) | 0] = 1;
    return row;
  };
  const marked = markedSteps(index);
  return {
    depth,
    deepest,
    mine,
    marks: { call: mark(marked.call), node: mark(marked.node), guard: mark(marked.guard), restart: mark(marked.restart), break: mark(marked.break) },
    bands: bands(index, visible, range),
  };
}

/** The stretches of visible steps that are in `range`. */
function* within(visible: VisibleSteps, { from, to }: Range): Generator<readonly [number, number]> {
  const [first, last] = [visible.at_ordinal(from), visible.at_ordinal(to - 1)];
  if (first === null || last === null) return;
  for (const [start, end] of visible.stretches) if (end >= first && start <= last) yield [Math.max(start, first), Math.min(end, last)];
}

function bands(index: TraceIndex, visible: VisibleSteps, { from, to }: Range): Band[] {
  const share = (ordinal: number): number => Math.min(1, Math.max(0, (ordinal - from) / (to - from)));
  return index.meta.attempts
    .filter((attempt) => attempt.last_step >= attempt.first_step && visible.has(attempt.first_step))
    .map((attempt) => ({
      from: share(visible.ordinal(attempt.first_step)), to: share(visible.ordinal(attempt.last_step) + 1),
      attempt: attempt.id, failed: attempt.outcome === "restarted",
    }))
    .filter((band) => band.to > band.from);
}

/** The visible step of `steps` nearest to `ordinal`, no further away than `reach`; null when there is none. */
export function markNear(steps: ArrayLike<number>, visible: VisibleSteps, ordinal: number, reach: number): number | null {
  const middle = visible.at_ordinal(ordinal);
  if (middle === null) return null;
  const at = lowerBound(steps, middle);
  let nearest: number | null = null;
  let least = reach;
  for (let i = Math.max(0, at - 1); i <= at && i < steps.length; i++) {
    const step = steps[i] as number;
    const away = Math.abs(visible.ordinal(step) + 0.5 - ordinal);
    if (visible.has(step) && away <= least) [nearest, least] = [step, away];
  }
  return nearest;
}

// The timeline's picture, reduced to a column of pixels a bucket, so that a million steps cost what a thousand do.
import { lowerBound, type TraceIndex } from "./trace";
import type { VisibleSteps } from "./visible";

/** What is marked below the depth curve, in the order of its rows. */
export const MARKS = ["call", "node", "guard", "restart", "break"] as const;
export type Mark = (typeof MARKS)[number];

export interface Picture {
  /** Deepest inlining in each bucket, 0 for the root. */
  depth: Uint16Array;
  deepest: number;
  /** 1 where a bucket has a step of the user's own code. */
  mine: Uint8Array;
  /** By mark: 1 where a bucket has one. */
  marks: Record<Mark, Uint8Array>;
}

/** The picture of all visible steps in `buckets` columns (at least one; no more than there are steps). */
export function picture(index: TraceIndex, visible: VisibleSteps, buckets: number): Picture {
  const width = Math.max(1, Math.min(Math.floor(buckets), Math.max(1, visible.count)));
  const depth = new Uint16Array(width);
  const mine = new Uint8Array(width);
  const scale = width / Math.max(1, visible.count);
  let deepest = 0;
  let ordinal = 0;
  for (const [first, last] of visible.stretches)
    for (let step = first; step <= last; step++, ordinal++) {
      const bucket = (ordinal * scale) | 0;
      const here = index.depthAt(step);
      if (here > (depth[bucket] as number)) depth[bucket] = here;
      if (here > deepest) deepest = here;
      if (index.mineAt(step)) mine[bucket] = 1;
    }
  const mark = (steps: ArrayLike<number>): Uint8Array => {
    const row = new Uint8Array(width);
    for (const [first, last] of visible.stretches)
      for (let i = lowerBound(steps, first); i < steps.length && (steps[i] as number) <= last; i++)
        row[(visible.ordinal(steps[i] as number) * scale) | 0] = 1;
    return row;
  };
  const restarts = Uint32Array.from(index.meta.attempts.filter((a) => a.number > 1), (a) => a.first_step).sort();
  return {
    depth,
    deepest,
    mine,
    marks: {
      call: mark(index.calls),
      node: mark(index.nodes.steps),
      guard: mark(index.guards.steps),
      restart: mark(restarts),
      break: mark(index.breaks.steps),
    },
  };
}

// The visible steps: all, or all but those of attempts that were abandoned and restarted.
import type { Meta } from "../schema";

/** A stretch of steps, both ends included. */
export type Stretch = readonly [first: number, last: number];

export class VisibleSteps {
  readonly count: number;
  /** How many visible steps come before each stretch. */
  private readonly before: number[] = [];

  constructor(readonly stretches: readonly Stretch[]) {
    let count = 0;
    for (const [first, last] of stretches) {
      this.before.push(count);
      count += last - first + 1;
    }
    this.count = count;
  }

  /** The steps of `meta`, with those of restarted attempts or without. */
  static of(meta: Pick<Meta, "attempts" | "steps">, failed: boolean): VisibleSteps {
    if (meta.steps === 0) return new VisibleSteps([]);
    if (failed) return new VisibleSteps([[0, meta.steps - 1]]);
    const hidden = meta.attempts
      .filter((a) => a.outcome === "restarted" && a.last_step >= a.first_step)
      .map((a): Stretch => [a.first_step, a.last_step])
      .sort((a, b) => a[0] - b[0]);
    const stretches: Stretch[] = [];
    let at = 0;
    for (const [first, last] of hidden) {
      if (first > at) stretches.push([at, first - 1]);
      at = Math.max(at, last + 1);
    }
    if (at < meta.steps) stretches.push([at, meta.steps - 1]);
    return new VisibleSteps(stretches);
  }

  get first(): number | null {
    return this.stretches[0]?.[0] ?? null;
  }

  get last(): number | null {
    return this.stretches.at(-1)?.[1] ?? null;
  }

  has(step: number): boolean {
    const stretch = this.stretches[this.at(step)];
    return stretch !== undefined && step <= stretch[1];
  }

  next(step: number): number | null {
    const at = this.at(step);
    const stretch = this.stretches[at];
    if (stretch && step < stretch[1]) return step + 1;
    return this.stretches[at + 1]?.[0] ?? null;
  }

  previous(step: number): number | null {
    const at = this.at(step);
    const stretch = this.stretches[at];
    if (!stretch) return null;
    if (step > stretch[1]) return stretch[1];
    if (step > stretch[0]) return step - 1;
    return this.stretches[at - 1]?.[1] ?? null;
  }

  /** The visible step nearest to `step` (itself, else the next, else the one before), or null when there is none. */
  clamp(step: number): number | null {
    const whole = Number.isFinite(step) ? Math.trunc(step) : 0;
    if (this.has(whole)) return whole;
    return this.next(whole) ?? this.previous(whole);
  }

  /** How many visible steps come before `step`. */
  ordinal(step: number): number {
    const at = this.at(step);
    const stretch = this.stretches[at];
    return stretch ? (this.before[at] ?? 0) + Math.min(step, stretch[1] + 1) - stretch[0] : 0;
  }

  /** The visible step after `ordinal` others; clamped to the existing ones. Null when there is none. */
  at_ordinal(ordinal: number): number | null {
    if (this.count === 0) return null;
    const wanted = Math.min(Math.max(0, Math.trunc(ordinal)), this.count - 1);
    let low = 0;
    let high = this.before.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.before[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    return (this.stretches[low]?.[0] ?? 0) + wanted - (this.before[low] ?? 0);
  }

  /** The last stretch that starts at or before `step`; -1 if none. */
  private at(step: number): number {
    let low = 0;
    let high = this.stretches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.stretches[middle]?.[0] ?? 0) <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

// Where a person was, as in a browser: back to it, and forward again.

const KEPT = 200;

/** How a position was reached. Steps from one to the next are one entry together; so is a drag. */
export type Means = "jump" | "step" | "drag";

export class History {
  private past: number[] = [];
  private future: number[] = [];
  private last: Means = "jump";

  /** Note that `from` is left. */
  leave(from: number, means: Means): void {
    const goesOn = means === this.last && means !== "jump";
    this.last = means;
    this.future = [];
    if (goesOn || this.past.at(-1) === from) return;
    this.past.push(from);
    if (this.past.length > KEPT) this.past.shift();
  }

  get canGoBack(): boolean {
    return this.past.length > 0;
  }

  get canGoForward(): boolean {
    return this.future.length > 0;
  }

  /** The position before `from`; null when there is none. */
  back(from: number): number | null {
    return this.swap(this.past, this.future, from);
  }

  forward(from: number): number | null {
    return this.swap(this.future, this.past, from);
  }

  private swap(out: number[], into: number[], from: number): number | null {
    this.last = "jump";
    const to = out.pop();
    if (to === undefined) return null;
    into.push(from);
    return to;
  }
}

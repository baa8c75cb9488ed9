// Two recordings aligned by the lines that they run: which step of one belongs to a step of the other.
import type { Differences } from "../schema";
import { upperBound } from "./trace";

export type Side = "before" | "after";
export type Pair = Differences["pairs"][number];

export const OTHER = { before: "after", after: "before" } as const;

/** The steps of one recording in the rows of the alignment, sorted, and the rows they stand in. */
interface Column {
  steps: number[];
  rows: number[];
}

export class Alignment {
  private readonly columns: Record<Side, Column>;

  constructor(readonly pairs: readonly Pair[]) {
    this.columns = { before: column(pairs, 0), after: column(pairs, 1) };
  }

  /** The row of the line that `step` belongs to: the last one that began until then; null before the first. */
  row(side: Side, step: number): number | null {
    const { steps, rows } = this.columns[side];
    return rows[upperBound(steps, step) - 1] ?? null;
  }

  stepAt(side: Side, row: number): number | null {
    return this.pairs[row]?.[side === "before" ? 0 : 1] ?? null;
  }

  /** The step of the other recording that runs the same line; else that of the nearest line before that both ran, or
   * after, where there is none before. */
  across(side: Side, step: number): number | null {
    const row = this.row(side, step) ?? 0;
    for (let at = row; at >= 0; at--) if (this.stepAt("before", at) !== null && this.stepAt("after", at) !== null) return this.stepAt(OTHER[side], at);
    return this.columns[OTHER[side]].steps[0] ?? null;
  }

  /** Whether only `side` ran the line of `step`. */
  isAlone(side: Side, step: number): boolean {
    const row = this.row(side, step);
    return row !== null && this.stepAt(OTHER[side], row) === null;
  }
}

function column(pairs: readonly Pair[], at: 0 | 1): Column {
  const found: [step: number, row: number][] = [];
  pairs.forEach((pair, row) => {
    if (pair[at] !== null) found.push([pair[at], row]);
  });
  found.sort((a, b) => a[0] - b[0]);
  return { steps: found.map(([step]) => step), rows: found.map(([, row]) => row) };
}

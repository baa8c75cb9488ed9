// The changes of a step to a frame's state, as rows to show.
import { type Code, STATE } from "../schema";
import type { StepView } from "./window";

export type Fate = "kept" | "pushed" | "popped";

/** An item of the stack around a step. `depth` counts from the bottom, 0 first. */
export interface StackRow {
  tracker: number;
  depth: number;
  fate: Fate;
}

/** Top first: the items that the step pushed, popped, and left unchanged. */
export function stackRows(view: StepView): StackRow[] {
  const before = view.before[STATE.stack];
  const after = view.after?.[STATE.stack] ?? before;
  let kept = 0;
  while (kept < before.length && kept < after.length && before[kept] === after[kept]) kept++;
  const rows = (items: number[], fate: Fate): StackRow[] =>
    items.slice(kept).map((tracker, i) => ({ tracker, depth: kept + i, fate }));
  const left = before.slice(0, kept).map((tracker, depth): StackRow => ({ tracker, depth, fate: "kept" }));
  return [...left, ...rows(before, "popped"), ...rows(after, "pushed")].reverse();
}

/** A local or a cell around a step; null where unbound. */
export interface SlotRow {
  name: string;
  before: number | null;
  after: number | null;
  changed: boolean;
}

function slots(names: string[], view: StepView, part: 1 | 2): SlotRow[] {
  const before = view.before[part];
  const after = view.after?.[part] ?? before;
  return names
    .map((name, i): SlotRow => {
      const [was, is] = [before[i] ?? null, after[i] ?? null];
      return { name, before: was, after: is, changed: was !== is };
    })
    .filter((row) => row.before !== null || row.after !== null);
}

export const localRows = (code: Code, view: StepView): SlotRow[] => slots(code.locals, view, STATE.locals);
export const cellRows = (code: Code, view: StepView): SlotRow[] => slots(code.cells, view, STATE.cells);

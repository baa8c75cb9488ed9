// One step of a window, whose steps travel by columns.
import type { State, Window } from "../schema";

/** A step: the states of its frame before and after it (null where it did not end), and its sentence. */
export interface StepView {
  /** Its trackers are as of `step - 1`. */
  before: State;
  /** Its trackers are as of `until`. */
  after: State | null;
  /** Its last step: itself, or the last step of the frames it inlined. */
  until: number;
  sentence: string;
  handlers: string[];
}

export function stepOf(window: Window, step: number): StepView | null {
  const at = step - window.first;
  const before = window.before[at];
  if (!before) return null;
  const after = window.after[at] ?? null;
  return {
    before,
    after: typeof after === "number" ? (window.before[after] ?? null) : after,
    until: step + (window.inlined[at] ?? 0),
    sentence: window.texts[window.sentence[at] ?? 0] ?? "",
    handlers: window.handlers[at] ?? [],
  };
}

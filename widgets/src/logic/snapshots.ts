// The state of a tracker at a step.
import type { Snapshot, TrackerView } from "../schema";

/** The last snapshot taken at or before `step`; the first one if `step` is earlier. */
export function snapshotAt(view: TrackerView, step: number): Snapshot | null {
  const all = view.snapshots;
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.step ?? 0) <= step) low = middle + 1;
    else high = middle;
  }
  return all[Math.max(0, low - 1)] ?? null;
}

/** Whether the tracker, known before `step`, was another by the end of `until`. */
export function changedBetween(view: TrackerView, step: number, until: number): boolean {
  return view.snapshots.some((snapshot, position) => position > 0 && snapshot.step >= step && snapshot.step <= until);
}

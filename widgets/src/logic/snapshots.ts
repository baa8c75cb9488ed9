// The state of a tracker at a step.
import type { Snapshot, TrackerView } from "../schema";
import { lowerBound, upperBound } from "./trace";

/** The last snapshot taken at or before `step`, or the first one if `step` is earlier; of a long history, maybe the
 * number of one that is not here. */
export function snapshotAt(view: TrackerView, step: number): Snapshot | number | null {
  const later = view.later[upperBound(view.later_steps, step) - 1];
  if (later !== undefined) return later;
  return view.snapshots.findLast((snapshot) => snapshot.step <= step) ?? view.snapshots[0] ?? null;
}

/** Whether the tracker, known before `step`, was another by the end of `until`. */
export function changedBetween(view: TrackerView, step: number, until: number): boolean {
  const within = (taken: number): boolean => taken >= step && taken <= until;
  const later = view.later_steps[lowerBound(view.later_steps, step)];
  return (later !== undefined && within(later)) || view.snapshots.some((snapshot, position) => position > 0 && within(snapshot.step));
}

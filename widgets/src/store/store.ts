// Where a trace comes from. The explorer does not know whether that is a kernel or the page it stands in.
import type { Meta, TrackerChunk, Window } from "../schema";

export interface Store {
  meta(): Promise<Meta>;
  /** Steps `index * meta.window` and on. */
  window(index: number): Promise<Window>;
  /** Trackers `index * meta.chunk` and on. */
  chunk(index: number): Promise<TrackerChunk>;
}

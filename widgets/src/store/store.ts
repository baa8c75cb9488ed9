// The origin of a trace: a kernel, or the page that contains the explorer, which does not know which.
import type { Differences, Fixes, Meta, TrackerChunk, Window } from "../schema";

export interface Store {
  meta(): Promise<Meta>;
  /** Steps `index * meta.window` and on. */
  window(index: number): Promise<Window>;
  /** Trackers `index * meta.chunk` and on. */
  chunk(index: number): Promise<TrackerChunk>;
  /** Repeat the recorded calls with changes; only a kernel can. */
  fixes?(): Promise<Fixes>;
  /** The recording that this one is compared with, and their differences, where there is one. */
  before?: Store;
  differences?(): Promise<Differences>;
}

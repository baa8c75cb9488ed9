// The origin of a trace: a kernel, or the page that contains the explorer, which does not know which.
import type { Fixes, Meta, Stops, TrackerChunk, Window } from "../schema";

export interface Store {
  meta(): Promise<Meta>;
  /** Steps `index * meta.window` and on. */
  window(index: number): Promise<Window>;
  /** Trackers `index * meta.chunk` and on. */
  chunk(index: number): Promise<TrackerChunk>;
  /** Repeat the recorded calls with changes; only a kernel can. */
  fixes?(): Promise<Fixes>;
  /** The steps that meet a condition; only a kernel knows its language. */
  stops?(condition: string): Promise<Stops>;
}

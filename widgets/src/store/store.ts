// The origin of a trace: a kernel, or the page that contains the explorer, which does not know which.
import type { ReadonlySignal } from "@preact/signals";
import type { BesideTorchSoFar, Differences, Dispatcher, FixesSoFar, LaterChunk, Meta, Stops, TouchedChunk, TrackerChunk, Unfinished, Window } from "../schema";

/** Is told how far long work is, and says whether to go on. */
export type Going = (so: Unfinished) => boolean;

export interface Store {
  meta(): Promise<Meta>;
  /** Steps `index * meta.window` and on. */
  window(index: number): Promise<Window>;
  /** Trackers `index * meta.chunk` and on. */
  chunk(index: number): Promise<TrackerChunk>;
  /** Snapshots `index * meta.later` and on, of trackers that have many. */
  later(index: number): Promise<LaterChunk>;
  /** The steps that touched trackers `index * meta.chunk` and on. */
  touched(index: number): Promise<TouchedChunk>;
  /** The dispatcher's steps with those under a node of a captured graph; only a kernel can trace them. */
  readonly under?: ((node: number, going?: Going) => Promise<Dispatcher>) | undefined;
  /** Graphviz, and the panes that come when they are opened, as the text of a module. */
  graphviz(): Promise<BlobPart>;
  panes(): Promise<BlobPart>;
  /** Repeat the recorded calls with the next change, from the first on at the `start`; only a kernel can. */
  readonly fixes?: ((start: boolean) => Promise<FixesSoFar>) | undefined;
  /** Repeat the recorded calls through the engine and torch.compile, part by part; only a kernel can. */
  readonly besideTorch?: ((start: boolean) => Promise<BesideTorchSoFar>) | undefined;
  /** The steps that meet a condition; only a kernel knows its language. */
  readonly stops?: ((condition: string, going?: Going) => Promise<Stops>) | undefined;
  /** The recording that this one is compared with, and their differences, where there is one. */
  readonly before?: Store | undefined;
  readonly differences?: ((going?: Going) => Promise<Differences>) | undefined;
  /** What is wrong with the origin, in a sentence; empty while nothing is. */
  readonly trouble?: ReadonlySignal<string>;
}

// The pieces of a recording that are shown: requested from the store, kept, and awaited.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { snapshotAt } from "./logic/snapshots";
import { type StepView, stepOf } from "./logic/window";
import type { LaterChunk, Meta, Snapshot, Touched, TouchedChunk, TrackerChunk, TrackerView, Window } from "./schema";
import { type Asked, Lru } from "./store/lru";
import type { Store } from "./store/store";

const WINDOWS = 24;
const CHUNKS = 128;
/** Milliseconds. Jumps that follow each other faster are a drag: what it passes over is not requested. */
const REST = 150;
/** Milliseconds until the windows beside that of the position are requested. */
const BESIDE = 250;

export class Loading {
  private readonly arrivals = signal(0);
  private readonly windows: Lru<Window>;
  private readonly chunks: Lru<TrackerChunk>;
  private readonly laters: Lru<LaterChunk>;
  private readonly touches: Lru<TouchedChunk>;
  /** Whether something is shown as loading. */
  private missing = false;
  private dragged = false;
  private wentAt = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly meta: Meta, store: Store) {
    const arrived = (): void => this.arrived();
    this.windows = new Lru((index) => store.window(index), WINDOWS, arrived);
    this.chunks = new Lru((index) => store.chunk(index), CHUNKS, arrived);
    this.laters = new Lru((index) => store.later(index), CHUNKS, arrived);
    this.touches = new Lru((index) => store.touched(index), CHUNKS, arrived);
  }

  step(step: number): Asked<StepView> {
    return map(this.entry(this.windows, Math.floor(step / this.meta.window)), (window) => stepOf(window, step), `data for step ${step}`);
  }

  tracker(id: number): Asked<TrackerView> {
    return map(this.entry(this.chunks, Math.floor(id / this.meta.chunk)), (chunk) => chunk.trackers[id - chunk.first], `value ${id}`);
  }

  /** The tracker as of a step. */
  snapshot(id: number, step: number): Asked<Snapshot> {
    const found = map(this.tracker(id), (view) => snapshotAt(view, step), `state of value ${id}`);
    if (found === "loading" || "error" in found) return found;
    const { value } = found;
    if (typeof value !== "number") return { value };
    return map(this.entry(this.laters, Math.floor(value / this.meta.later)), (chunk) => chunk.snapshots[value - chunk.first], `state ${value}`);
  }

  /** The first steps that touched a tracker, and how many did. */
  touched(id: number): Asked<Touched> {
    return map(this.entry(this.touches, Math.floor(id / this.meta.chunk)), (chunk) => chunk.trackers[id - chunk.first], `value ${id}`);
  }

  /** Note that the position changes from one step to another, and request nothing until a drag rests. */
  hurry(from: number, to: number): void {
    const now = performance.now();
    const far = Math.abs(to - from) > this.meta.window;
    this.dragged = far && now - this.wentAt < REST;
    if (far) this.wentAt = now;
    clearTimeout(this.rest);
    if (!this.dragged) return;
    this.rest = setTimeout(() => {
      this.dragged = false;
      this.arrivals.value++;
    }, REST);
  }

  /** Request failed entries again. */
  retry(): void {
    this.windows.retry();
    this.chunks.retry();
    this.laters.retry();
    this.touches.retry();
    this.arrivals.value++;
  }

  /** Keep the steps around `position` loaded, those beside it a little later. Returns a function that stops it. */
  prefetch(position: ReadonlySignal<number>): () => void {
    let later: ReturnType<typeof setTimeout> | undefined;
    const size = this.meta.window;
    const last = Math.ceil(this.meta.steps / size) - 1;
    const load = (index: number): void => {
      if (index >= 0 && index <= last && !this.dragged) this.windows.get(index);
    };
    const stop = effect(() => {
      load(Math.floor(position.value / size));
      later ??= setTimeout(() => {
        later = undefined;
        const at = Math.floor(position.peek() / size);
        load(at + 1);
        load(at - 1);
      }, BESIDE);
    });
    return () => {
      stop();
      clearTimeout(later);
    };
  }

  /** Return an entry to be shown, and request it unless it is only passed over. */
  private entry<T>(from: Lru<T>, index: number): Asked<T> {
    this.arrivals.value;
    const entry = this.dragged ? (from.held(index) ?? "loading") : from.get(index);
    if (entry === "loading") this.missing = true;
    return entry;
  }

  /** Have shown what has arrived: all of a frame at once, and nothing that nobody waits for. */
  private arrived(): void {
    if (!this.missing) return;
    this.missing = false;
    requestAnimationFrame(() => this.arrivals.value++);
  }
}

/** What `part` takes out of an entry; `what` names it where the recording has none. */
function map<T, U>(asked: Asked<T>, part: (value: T) => U | null | undefined, what: string): Asked<U> {
  if (asked === "loading" || "error" in asked) return asked;
  const value = part(asked.value);
  return value === null || value === undefined ? { error: `The recording has no ${what}.` } : { value };
}

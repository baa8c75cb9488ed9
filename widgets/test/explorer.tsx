// An explorer over a hand-written recording, for tests of what it shows and does.
import { render } from "preact";
import { vi } from "vitest";
import { Model } from "../src/model";
import type { LaterChunk, Meta, TouchedChunk, TrackerChunk, Window } from "../src/schema";
import type { Store } from "../src/store/store";
import { Root } from "../src/view/root";
import { meta, snapshot, windowOf } from "./fixture";

export class FixedStore implements Store {
  asked: string[] = [];
  meta = () => Promise.resolve(meta());
  window = (index: number): Promise<Window> => {
    this.asked.push(`window ${index}`);
    return Promise.resolve(windowOf(4 * index, 4, " did it"));
  };
  chunk = (index: number): Promise<TrackerChunk> =>
    Promise.resolve({ first: 2 * index, trackers: [0, 1].map((i) => ({ snapshots: [snapshot(-1, `value ${2 * index + i}`)], made_by: null, later: [], later_steps: [], changed: [] })) });
  later = (): Promise<LaterChunk> => Promise.reject(new Error("no history is long"));
  touched = (index: number): Promise<TouchedChunk> => Promise.resolve({ first: 2 * index, trackers: [[[4], 1], [[], 0]] });
}

export const settle = (ms = 20): Promise<void> => new Promise((done) => setTimeout(done, ms));

export class Shown {
  readonly place = document.createElement("div");

  constructor(readonly model: Model) {
    vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
    vi.stubGlobal("IntersectionObserver", class { observe() {} disconnect() {} });
    document.body.append(this.place);
    render(<Root model={model} height={null} />, this.place);
  }

  static async of(made: Meta = meta(), store: Store = new FixedStore()): Promise<Shown> {
    const shown = new Shown(new Model(made, store, 0));
    await settle();
    return shown;
  }

  part(name: string): HTMLElement | null {
    return this.place.querySelector(`[data-testid="${name}"]`);
  }

  all(selector: string): HTMLElement[] {
    return [...this.place.querySelectorAll<HTMLElement>(selector)];
  }

  /** Press a key where the focus is. */
  async press(key: string, more: KeyboardEventInit = {}, on: HTMLElement | null = this.part("explorer")): Promise<boolean> {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
    on?.dispatchEvent(event);
    await settle();
    return event.defaultPrevented;
  }

  remove(): void {
    render(null, this.place);
    this.place.remove();
  }
}

// Work that the kernel does by repeating the recorded calls, part by part: how far it is, and the way to stop it.
import { type Signal, signal } from "@preact/signals";
import { messageOf } from "./logic/errors";

/** The state after each part; `next` says what the next one does, null at the end. */
export interface SoFar {
  next?: string | null;
}

/** Have the kernel do the next part, from the first on at the `start`. */
export type Ask<T> = (start: boolean) => Promise<T>;

export class Repeating<T extends SoFar> {
  /** What came of it so far; null before it was asked for. */
  readonly so: Signal<T | null> = signal(null);
  readonly state: Signal<"running" | "stopping" | "idle" | { error: string }> = signal("idle");

  /** `ask` gives undefined where no kernel has the calls. */
  constructor(private readonly ask: () => Ask<T> | undefined) {}

  get isPossible(): boolean {
    return this.ask() !== undefined;
  }

  get isRunning(): boolean {
    return this.state.value === "running" || this.state.value === "stopping";
  }

  async run(): Promise<void> {
    const ask = this.ask();
    if (!ask || this.isRunning) return;
    this.state.value = "running";
    try {
      for (let start = true; start || (this.so.value?.next != null && this.state.value === "running"); start = false) this.so.value = await ask(start);
      this.state.value = "idle";
    } catch (error) {
      this.state.value = { error: messageOf(error) };
    }
  }

  /** Begin no further part after the one that runs. */
  stop(): void {
    if (this.state.value === "running") this.state.value = "stopping";
  }
}

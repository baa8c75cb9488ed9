// Stops over the recording: where conditions hold, and where a picked value changes.
import { type Signal, signal } from "@preact/signals";
import { cellRows, localRows } from "./logic/change";
import { changeOf } from "./logic/changes";
import { messageOf } from "./logic/errors";
import type { Model } from "./model";
import type { Stops, Unfinished } from "./schema";
import type { Asked } from "./store/lru";
import type { Store } from "./store/store";

/** A condition, and the steps that meet it. */
export interface Stop {
  text: string;
  asked: Asked<Stops>;
  on: boolean;
  /** How far the kernel has come, while it searches for long. */
  so: Unfinished | null;
  /** Tells a search from another one of the same text. */
  search: symbol;
}

/** A value that was picked: where it is shown, e.g. `locals:x`, and its tracker then. */
export interface Picked {
  path: string;
  label: string;
  tracker: number;
}

export const NO_KERNEL =
  "This page has no kernel, and conditions are evaluated there. Without one, find looks through the whole recording, and `r` goes back to the last change of the value that was clicked.";

/** Whether a value is shown as a variable, and not as an item of the stack or a part of another value. */
export const isVariable = (path: string): boolean => /^(locals|cells):[^/]*$/.test(path);

export class Stopping {
  readonly stops: Signal<readonly Stop[]> = signal([]);
  /** The value whose changes `r` goes back to. */
  readonly picked: Signal<Picked | null> = signal(null);

  constructor(private readonly model: Model, private readonly store: Store) {}

  /** Whether conditions can be evaluated. */
  get possible(): boolean {
    return this.store.stops !== undefined;
  }

  /** Have the kernel find the steps that meet a condition. */
  add(text: string): void {
    if (!this.store.stops || text === "" || this.stops.value.some((stop) => stop.text === text)) return;
    const search = Symbol(text);
    this.stops.value = [...this.stops.value, { text, asked: "loading", on: true, so: null, search }];
    const isWanted = (): boolean => this.stops.value.some((stop) => stop.search === search);
    const settle = (asked: Asked<Stops>): void => {
      if (isWanted()) this.change(text, { asked, so: null });
    };
    const going = (so: Unfinished): boolean => {
      if (isWanted()) this.change(text, { so });
      return isWanted();
    };
    this.store.stops(text, going).then(
      (value) => settle(value.error === "" ? { value } : { error: value.error }),
      (error: unknown) => settle({ error: messageOf(error) }),
    );
  }

  change(text: string, change: Partial<Stop>): void {
    this.stops.value = this.stops.value.map((stop) => (stop.text === text ? { ...stop, ...change } : stop));
  }

  remove(text: string): void {
    this.stops.value = this.stops.value.filter((stop) => stop.text !== text);
  }

  /** The steps that a condition stops at: visible ones, and, while libraries are folded, none for their variables. */
  stepsOf(stop: Pick<Stop, "asked">): number[] {
    if (stop.asked === "loading" || "error" in stop.asked) return [];
    const { steps, names } = stop.asked.value;
    const { visible, mine, index } = this.model.ground;
    return steps.filter((step) => visible.has(step) && (!names || !mine || index.mineAt(step)));
  }

  /** Go on, or back, to where one of the conditions holds. */
  go(direction: "next" | "previous", among: readonly Stop[] = this.stops.value.filter((stop) => stop.on)): void {
    const { model } = this;
    if (among.length === 0) {
      model.tab.value = "find";
      model.notice.value = this.possible ? "There is no condition to stop at yet: write one in the Find pane." : NO_KERNEL;
      return;
    }
    const at = model.position.value;
    const next = direction === "next";
    const steps = among.flatMap((stop) => this.stepsOf(stop)).filter((step) => (next ? step > at : step < at));
    if (steps.length > 0) model.go(steps.reduce((one, other) => (next === other < one ? other : one)));
    else model.notice.value = next ? "No condition holds after this step." : "No condition holds before this step.";
  }

  /** Go to the last (or next) change of the picked value. */
  goToChange(direction: "next" | "previous"): void {
    const { model } = this;
    const picked = this.picked.value;
    const viewed = model.viewed.value;
    if (!picked || !viewed) {
      model.notice.value = "Click a value first; then `r` goes back to its last change, and `R` on to the next one.";
      return;
    }
    const name = isVariable(picked.path) ? picked.label : null;
    const tracker = name === null ? picked.tracker : this.boundTo(picked.path, name, direction);
    const asked = tracker === null || tracker === "loading" ? tracker : model.tracker(tracker);
    if (asked === "loading") {
      model.notice.value = "The values of this step are still loading; try again.";
      return;
    }
    const view = asked !== null && "value" in asked ? asked.value : null;
    const to = changeOf(model.index, { frame: viewed.frame.id, name }, view, viewed.step, direction);
    if (to !== null) model.go(to);
    else model.notice.value = `\`${picked.label}\` does not change ${direction === "previous" ? "before" : "after"} this step in this function.`;
  }

  /** The tracker that a variable of the viewed frame has before the step, or, on the way on, after it. */
  private boundTo(path: string, name: string, direction: "next" | "previous"): number | null | "loading" {
    const viewed = this.model.viewed.value;
    const asked = viewed ? this.model.stepView(viewed.step) : "loading";
    if (!viewed || asked === "loading" || "error" in asked) return "loading";
    const row = (path.startsWith("cells:") ? cellRows : localRows)(viewed.code, asked.value).find((one) => one.name === name);
    return (direction === "previous" ? row?.before : (row?.after ?? row?.before)) ?? null;
  }
}

// Two recordings compared: their differences, and two explorers that go in step.
import { effect, type Signal, signal, untracked } from "@preact/signals";
import { Alignment, OTHER, type Side } from "./logic/align";
import { messageOf } from "./logic/errors";
import { Model } from "./model";
import type { Differences, Unfinished } from "./schema";
import type { Asked } from "./store/lru";

/** What is known once it was asked for: the differences, and both explorers' models. */
export interface Compared {
  differences: Differences;
  alignment: Alignment;
  models: Record<Side, Model>;
}

export const NEEDS_KERNEL = "the run before is not part of this file, and comes from the kernel. Run the cell again.";

export class Comparing {
  readonly asked: Signal<Asked<Compared> | "stopped" | null> = signal(null);
  /** How far the kernel has come, while it compares for long. */
  readonly so: Signal<Unfinished | null> = signal(null);
  /** Whether both explorers are shown. */
  readonly both = signal(false);
  /** Whether they go in step. */
  readonly linked = signal(true);
  /** The positions that are not to be followed: those that a model was sent to. */
  private arrived: Partial<Record<Side, number | undefined>> = {};

  constructor(private readonly after: Model) {}

  get loaded(): Compared | null {
    const asked = this.asked.value;
    return asked !== null && typeof asked === "object" && "value" in asked ? asked.value : null;
  }

  sideOf(model: Model): Side {
    return model === this.after ? "after" : "before";
  }

  /** Ask for the differences and the other recording, once; again after a failure. */
  load(): void {
    const known = this.asked.peek();
    if (known === "loading" || (known !== null && typeof known === "object" && "value" in known)) return;
    const { before: origin, differences: compare } = this.after.store;
    if (!origin || !compare) {
      this.asked.value = { error: NEEDS_KERNEL };
      return;
    }
    this.asked.value = "loading";
    this.so.value = null;
    const going = (so: Unfinished): boolean => {
      this.so.value = so;
      return this.asked.value === "loading";
    };
    Promise.all([compare(going), origin.meta()]).then(
      ([differences, meta]) => {
        if (this.asked.value !== "loading") return;
        const before = new Model(meta, origin, 0, this.after.myCode);
        before.comparing.value = this;
        const compared = { differences, alignment: new Alignment(differences.pairs), models: { before, after: this.after } };
        this.asked.value = { value: compared };
        this.link(compared);
      },
      (error: unknown) => {
        if (this.asked.value === "loading") this.asked.value = { error: messageOf(error) };
      },
    );
  }

  /** Compare no further; `load` starts anew. */
  stop(): void {
    if (this.asked.value === "loading") this.asked.value = "stopped";
  }

  /** Ask again, if it has failed. */
  retry(): void {
    const known = this.asked.peek();
    if (known !== null && typeof known === "object" && "error" in known) this.load();
  }

  /** The step of the program's own that a recording is at: at the start of a function, the first one after it. */
  at(side: Side): number {
    const model = this.loaded?.models[side];
    if (!model || model.meta.steps === 0) return 0;
    const step = model.position.value;
    return Math.max(step, model.index.begin(model.index.frameAt(step)));
  }

  /** Go to a step of one recording; the other follows, if they go in step. */
  go(side: Side, step: number): void {
    this.loaded?.models[side].go(step);
  }

  /** Go to a step of each. */
  goBoth(before: number, after: number): void {
    const linked = this.linked.peek();
    this.linked.value = false;
    this.go("before", before);
    this.go("after", after);
    this.arrived = { before: this.loaded?.models.before.position.peek(), after: this.loaded?.models.after.position.peek() };
    this.linked.value = linked;
  }

  private link({ alignment, models }: Compared): void {
    for (const side of ["after", "before"] as const)
      effect(() => {
        const step = models[side].position.value;
        if (!this.linked.value || this.arrived[side] === step) return;
        delete this.arrived[side];
        untracked(() => {
          const other = models[OTHER[side]];
          const there = alignment.across(side, this.at(side));
          if (there === null || alignment.row(OTHER[side], this.at(OTHER[side])) === alignment.row(OTHER[side], there)) return;
          other.go(there, "step");
          this.arrived[OTHER[side]] = other.position.value;
        });
      });
  }
}

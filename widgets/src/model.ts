// The explorer's state, and how it changes. Views read signals; nothing here knows DOM elements.
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Comparing } from "./comparing";
import { nothingUnder, under } from "./logic/dispatch";
import { messageOf } from "./logic/errors";
import { find, type Found, nextMatch } from "./logic/find";
import { History, type Means } from "./logic/history";
import { type By, type Ground, start } from "./logic/navigate";
import { type Range, wholeRange, zoomed } from "./logic/timeline";
import { type Activation, TraceIndex } from "./logic/trace";
import { VisibleSteps } from "./logic/visible";
import type { StepView } from "./logic/window";
import { Loading } from "./loading";
import { Repeating } from "./repeating";
import type { BesideTorchSoFar, Dispatcher, FixesSoFar, Meta, Snapshot, Touched, TrackerView } from "./schema";
import { Stopping } from "./stopping";
import type { Asked } from "./store/lru";
import type { Store } from "./store/store";

export const TABS = ["overview", "graph", "guards", "breaks", "recompiles", "fixes", "calls", "effects", "generated", "dispatch", "compare", "story", "timings", "find"] as const;
export type Tab = (typeof TABS)[number];

export class Model {
  readonly index: TraceIndex;
  readonly position: Signal<number>;
  /** The step that the pane shows: that of the position, and for a moment, where steps follow each other, the one before. */
  readonly paneAt: Signal<number>;
  readonly by: Signal<By> = signal("line");
  readonly failed = signal(false);
  /** Just my code: library frames are folded and stepped over. */
  readonly mine = signal(true);
  /** The break whose details are shown; null for that of the position, else the first. */
  readonly break: Signal<number | null> = signal(null);
  readonly tab: Signal<Tab> = signal("overview");
  readonly help = signal(false);
  /** Whether the bytecode is shown, and not only its current instruction. */
  readonly bytecode = signal(false);
  /** Whether the pane takes the place of the source and the values. */
  readonly maximised = signal(false);
  /** Whether a long sentence is shown whole. */
  readonly whole = signal(false);
  /** The part of the timeline that is shown. */
  readonly range: Signal<Range | null> = signal(null);
  readonly findText = signal("");
  /** One sentence about the last command, where it could not be executed. */
  readonly notice = signal("");
  /** The frame whose state is shown, when it is not the innermost one. */
  readonly frame: Signal<number | null> = signal(null);
  readonly node: Signal<number | null> = signal(null);
  readonly guard: Signal<number | null> = signal(null);
  /** The body of an operator that was picked. */
  readonly body: Signal<number | null> = signal(null);
  /** The dispatcher's steps, which grow as people go on into nodes. */
  readonly dispatcher: Signal<Dispatcher>;
  /** The node whose steps the kernel traces; null while it traces none. */
  readonly tracing: Signal<{ readonly node: number } | null> = signal(null);
  /** The step of the dispatcher that is shown. */
  readonly dispatched: Signal<number> = signal(0);
  /** The call that is marked. */
  readonly call: Signal<number | null> = signal(null);
  /** The generated code that was picked. */
  readonly generated: Signal<number | null> = signal(null);
  /** The cause of recompilations that was chosen. */
  readonly cause: Signal<number | null> = signal(null);
  /** The station of the story that is told. */
  readonly station: Signal<number | null> = signal(null);
  /** The part of the explorer that the station points to, while the story is open. */
  readonly look: ReadonlySignal<string> = computed(() => (this.tab.value === "story" && this.station.value !== null ? (this.meta.story[this.station.value]?.look ?? "") : ""));
  /** The name that the station asks to look for among the values; empty for none. */
  readonly sought: ReadonlySignal<string> = computed(() => (this.look.value === "values" ? (this.meta.story[this.station.value ?? -1]?.value ?? "") : ""));
  /** The comparison with another recording; null before its pane was opened. */
  readonly comparing: Signal<Comparing | null> = signal(null);
  /** A sentence to show above everything. */
  note = "";
  /** Paths of the values that are opened. */
  readonly open: Signal<ReadonlySet<string>> = signal(new Set());
  /** What the changes do that were tried; null before that. */
  readonly fixes: Signal<FixesSoFar | null> = signal(null);
  /** Whether changes are being tried, and what went wrong. */
  readonly trying: Signal<"running" | "stopping" | "idle" | { error: string }> = signal("idle");
  /** The engine beside the installed torch.compile. */
  readonly beside: Repeating<BesideTorchSoFar>;
  readonly visible: ReadonlySignal<VisibleSteps>;
  readonly chain: ReadonlySignal<Activation[]>;
  /** The activation whose source, bytecode and values are shown. */
  readonly viewed: ReadonlySignal<Activation | null>;
  /** What holds the searched text; null without a search. */
  readonly results: ReadonlySignal<Found | null>;
  /** The steps to go to among it. */
  readonly found: ReadonlySignal<Uint32Array | null>;
  readonly stopping: Stopping;
  private following = false;
  private readonly history = new History();
  private readonly loading: Loading;

  /** `position` 0 is the start; `myCode` names what counts as the user's own, besides their files; `compared` says that
   * there is another recording to compare this one with. */
  constructor(meta: Meta, readonly store: Store, position: number, readonly myCode: readonly string[] = [], readonly compared = false) {
    this.index = new TraceIndex(meta, myCode);
    this.dispatcher = signal(meta.dispatcher);
    this.loading = new Loading(meta, store);
    this.beside = new Repeating(() => store.besideTorch);
    this.visible = computed(() => VisibleSteps.of(meta, this.failed.value));
    if (meta.steps === 0 && meta.dispatcher.steps.length > 0) this.tab.value = "dispatch";
    this.failed.value = !this.visible.value.has(position) && position > 0 && position < meta.steps;
    const first = position > 0 ? null : start(this.ground);
    this.position = signal(first ?? this.visible.value.clamp(position) ?? 0);
    this.paneAt = signal(this.position.value);
    this.chain = computed(() => (meta.steps > 0 ? this.index.chain(this.position.value) : []));
    this.viewed = computed(() => {
      const wanted = this.frame.value;
      const chain = this.chain.value;
      const own = this.mine.value ? chain.findLast(({ frame }) => this.index.isMine(frame.code)) : undefined;
      return chain.find((activation) => activation.frame.id === wanted) ?? own ?? chain.at(-1) ?? null;
    });
    this.results = computed(() => {
      const text = this.findText.value.trim();
      return text === "" || text.startsWith("#") ? null : find(this.ground, text);
    });
    this.found = computed(() => this.results.value?.steps ?? null);
    this.stopping = new Stopping(this, store);
  }

  get meta(): Meta {
    return this.index.meta;
  }

  get ground(): Ground {
    return { index: this.index, visible: this.visible.value, mine: this.mine.value };
  }

  /** Whether Escape has something to close. */
  get isCovered(): boolean {
    return this.help.value || this.notice.value !== "" || this.frame.value !== null;
  }

  get canGoBack(): boolean {
    this.position.value;
    return this.history.canGoBack;
  }

  get canGoForward(): boolean {
    this.position.value;
    return this.history.canGoForward;
  }

  /** Go to `step`; for a step in an abandoned attempt, show those attempts too. `means` is null in the history itself. */
  go(step: number, means: Means | null = "jump"): void {
    batch(() => {
      this.notice.value = "";
      this.frame.value = null;
      this.node.value = null;
      this.guard.value = null;
      this.body.value = null;
      this.break.value = null;
      this.call.value = null;
      this.cause.value = null;
      this.generated.value = null;
      if (!this.visible.value.has(step) && step >= 0 && step < this.meta.steps) this.failed.value = true;
      const there = this.visible.value.clamp(step);
      if (there === null) return;
      if (means !== null && there !== this.position.peek()) this.history.leave(this.position.peek(), means);
      this.loading.hurry(this.position.peek(), there);
      this.position.value = there;
      if (means === "step" || means === "drag") this.follow();
      else this.paneAt.value = there;
    });
  }

  /** Have the pane follow the position in the frame after the one that shows source and values. */
  private follow(): void {
    if (this.following) return;
    this.following = true;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        this.following = false;
        this.paneAt.value = this.position.peek();
      }),
    );
  }

  /** Show `factor` times as many steps in the timeline, around the position. */
  zoom(factor: number): void {
    const { count } = this.visible.value;
    const range = this.range.value ?? wholeRange(count);
    const at = (this.visible.value.ordinal(this.position.value) - range.from) / (range.to - range.from);
    this.range.value = zoomed(range, count, at >= 0 && at <= 1 ? at : 0.5, factor);
  }

  /** Show or hide the abandoned attempts. */
  showFailed(shown: boolean): void {
    batch(() => {
      this.failed.value = shown;
      this.range.value = null;
      this.paneAt.value = this.position.value = this.visible.value.clamp(this.position.value) ?? 0;
    });
  }

  goInHistory(direction: "back" | "forward"): void {
    const to = this.history[direction](this.position.peek());
    if (to === null) this.notice.value = direction === "back" ? "This is where you began." : "There is nothing to go forward to.";
    else this.go(to, null);
  }

  /** Search for `text`, and list what is found. */
  search(text: string): void {
    batch(() => {
      this.findText.value = text;
      if (this.results.value !== null) this.tab.value = "find";
    });
  }

  /** Go to the next or previous step that contains the searched text; `#57` is step 57. */
  find(direction: "next" | "previous"): void {
    const text = this.findText.value.trim();
    if (/^#\d+$/.test(text)) {
      this.go(Number(text.slice(1)));
      return;
    }
    const to = this.found.value && nextMatch(this.found.value, this.position.value, direction);
    if (to !== null) this.go(to);
    else this.notice.value = text === "" ? "" : "Nothing in this recording contains that text.";
  }

  /** Go to the step where instruction `position` of the viewed frame ran: the next one, else the first one. */
  goToInstruction(position: number): void {
    this.goInFrame((step) => this.index.instruction[step] === position);
  }

  /** Go to where `line` of the viewed frame began to run: the next time, else the first time. */
  goToLine(line: number): void {
    let before: number | null = null;
    this.goInFrame((step) => {
      const at = this.index.lineAt(step);
      const begins = at === line && before !== line;
      before = at;
      return begins;
    });
  }

  /** Go to the next step of the viewed frame that is `wanted`, else to the first. All are asked in order. */
  private goInFrame(wanted: (step: number) => boolean): void {
    const viewed = this.viewed.value;
    if (!viewed) return;
    const { first_step, end_step, id } = viewed.frame;
    let first: number | null = null;
    for (let step = first_step; step <= end_step; step++) {
      if (this.index.frame[step] !== id || !wanted(step) || !this.visible.value.has(step)) continue;
      if (step > viewed.step) return this.go(step);
      first ??= step;
    }
    if (first !== null) return this.go(first);
    this.notice.value = "This did not run in this activation.";
  }

  stepView(step: number): Asked<StepView> {
    return this.loading.step(step);
  }

  tracker(id: number): Asked<TrackerView> {
    return this.loading.tracker(id);
  }

  snapshot(id: number, step: number): Asked<Snapshot> {
    return this.loading.snapshot(id, step);
  }

  touched(id: number): Asked<Touched> {
    return this.loading.touched(id);
  }

  /** What is wrong with the origin of the trace, in a sentence; empty while nothing is. */
  get trouble(): string {
    return this.store.trouble?.value ?? "";
  }

  get canTryFixes(): boolean {
    return this.store.fixes !== undefined;
  }

  /** Have the kernel repeat the recorded calls with changes, one at a time. */
  async tryFixes(): Promise<void> {
    if (!this.store.fixes || this.trying.value === "running" || this.trying.value === "stopping") return;
    this.trying.value = "running";
    try {
      for (let start = true; start || (this.fixes.value?.next != null && this.isTrying); start = false) this.fixes.value = await this.store.fixes(start);
      this.trying.value = "idle";
    } catch (error) {
      this.trying.value = { error: messageOf(error) };
    }
  }

  /** Try no further change after the one that runs. */
  stopTrying(): void {
    if (this.trying.value === "running") this.trying.value = "stopping";
  }

  private get isTrying(): boolean {
    return this.trying.value === "running";
  }

  /** Request failed entries again. */
  retry(): void {
    this.loading.retry();
  }

  /** Keep the steps around the position loaded. Returns a function that stops it. */
  prefetch(): () => void {
    return this.loading.prefetch(this.position);
  }

  toggle(path: string): void {
    const open = new Set(this.open.value);
    if (!open.delete(path)) open.add(path);
    this.open.value = open;
  }

  /** Go to what a row of the overview is about, in the pane that shows more of it. */
  openRow(pane: Tab, item: number | null, step: number | null): void {
    batch(() => {
      if (step !== null) this.go(step);
      if (pane === "breaks") this.break.value = item;
      if (pane === "recompiles") this.cause.value = item;
      if (pane === "dispatch") this.dispatched.value = this.dispatcher.value.runs[item ?? 0]?.first_step ?? 0;
      this.tab.value = pane;
    });
  }

  /** Go to a station of the story, and open what it points to. */
  tell(number: number): void {
    const station = this.meta.story[number];
    this.tab.value = "story";
    if (!station) {
      this.notice.value = this.meta.story.length === 0 ? "There is no story to tell: nothing was traced." : number < 0 ? "This is the first station." : "This is the last station.";
      return;
    }
    batch(() => {
      if (station.step !== null) this.go(station.step);
      this.station.value = number;
      const item = ITEMS[station.look];
      if (item) this[item].value = station.item ?? null;
    });
  }

  openBreak(step: number | null): void {
    this.tab.value = "breaks";
    if (step !== null) this.go(step);
  }

  openNode(id: number, go: boolean): void {
    const node = this.meta.nodes[id];
    batch(() => {
      if (go && node?.step != null) this.go(node.step);
      this.tab.value = "graph";
      this.node.value = id;
    });
  }

  /** Go on into a step of the dispatcher. */
  openDispatched(step: number): void {
    batch(() => {
      this.tab.value = "dispatch";
      this.dispatched.value = step;
    });
  }

  get canTrace(): boolean {
    return this.store.under !== undefined;
  }

  /** Go on into what is under a node of a captured graph, forward or backward. The kernel traces it if need be. */
  openUnder(node: number, direction: string): void {
    const runs = under(this.dispatcher.value, node);
    if (runs.length > 0) {
      const run = runs.find((one) => one.direction === direction && one.last_step >= one.first_step);
      if (run) this.openDispatched(run.first_step);
      else this.notice.value = nothingUnder(runs, direction);
      return;
    }
    if (!this.store.under || this.tracing.value !== null) return;
    const asked = { node };
    this.tracing.value = asked;
    const isWanted = (): boolean => this.tracing.value === asked;
    this.store.under(node, isWanted).then(
      (dispatcher) => {
        this.dispatcher.value = dispatcher; // also if it was stopped too late: the recording has it now
        if (!isWanted()) return;
        this.tracing.value = null;
        if (under(dispatcher, node).length > 0) this.openUnder(node, direction);
        else this.notice.value = "This node calls no operator.";
      },
      (error: unknown) => {
        if (!isWanted()) return;
        this.tracing.value = null;
        this.notice.value = messageOf(error);
      },
    );
  }

  /** Wait no longer for what is under a node. The kernel does not trace it, unless it has begun to. */
  stopTracing(): void {
    this.tracing.value = null;
  }

  openBody(id: number): void {
    const body = this.meta.bodies[id];
    batch(() => {
      if (body && body.last_step >= body.first_step) this.go(body.first_step);
      this.tab.value = "graph";
      this.body.value = id;
    });
  }

  openGuard(id: number): void {
    batch(() => {
      this.tab.value = "guards";
      this.guard.value = id;
    });
  }
}

/** The signal that marks what a station points to. */
const ITEMS: Partial<Record<string, "node" | "body" | "guard" | "break" | "call" | "generated">> = {
  graph: "node", body: "body", guards: "guard", breaks: "break", calls: "call", generated: "generated",
};

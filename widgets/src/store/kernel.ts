// A trace in the kernel, requested by anywidget's custom messages.
//
// Request: {id, ask: "meta" | "window" | "chunk" | "later" | "touched" | "under" | "graphviz" | "panes" | "fixes" | "beside" | "stops" | "differences", index, text, before};
// `before` asks for the recording that this one is compared with. Answer: {id} with one buffer, or {id, error}.
// "under", "stops" and "differences" may be unfinished, and go on with the first message's id as index; "stop" ends them.
import { type Signal, signal } from "@preact/signals";
import type { BesideTorchSoFar, Differences, Dispatcher, FixesSoFar, LaterChunk, Meta, Stops, TouchedChunk, TrackerChunk, Unfinished, Window } from "../schema";
import type { Channel } from "../widget";
import type { Going, Store } from "./store";

interface Answer {
  id: number;
  error?: string;
}

interface More {
  text?: string;
  before?: true;
}

type Waiting = { resolve(value: DataView): void; reject(error: Error): void };

/** So long the kernel may take to answer before the person is told. */
const SLOW = 3000;
/** What may take as long as the program, or the recording, is. */
const SLOW_ONES = ["fixes", "beside", "stops", "under", "differences"];
export const BUSY = "The kernel does not answer: it is busy, or not running. The steps loaded so far can be seen.";
export const GONE = "The kernel that holds this recording is gone. The steps loaded so far can be seen; run the cell again for the others.";

const isUnfinished = (answer: unknown): answer is Unfinished => typeof answer === "object" && answer !== null && "unfinished" in answer;

export class KernelStore implements Store {
  readonly trouble: Signal<string> = signal("");
  private asked = 0;
  private slow: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly channel: Channel) {
    channel.on("msg:custom", this.answered);
  }

  meta = (): Promise<Meta> => this.json<Meta>("meta", 0);
  window = (index: number): Promise<Window> => this.json<Window>("window", index);
  chunk = (index: number): Promise<TrackerChunk> => this.json<TrackerChunk>("chunk", index);
  later = (index: number): Promise<LaterChunk> => this.json<LaterChunk>("later", index);
  touched = (index: number): Promise<TouchedChunk> => this.json<TouchedChunk>("touched", index);
  under = (node: number, going?: Going): Promise<Dispatcher> => this.long<Dispatcher>("under", { text: String(node) }, going);
  graphviz = (): Promise<BlobPart> => this.ask("graphviz", 0) as Promise<DataView<ArrayBuffer>>;
  panes = (): Promise<BlobPart> => this.ask("panes", 0) as Promise<DataView<ArrayBuffer>>;
  fixes = (start: boolean): Promise<FixesSoFar> => this.json<FixesSoFar>("fixes", start ? 0 : 1);
  besideTorch = (start: boolean): Promise<BesideTorchSoFar> => this.json<BesideTorchSoFar>("beside", start ? 0 : 1);
  stops = (condition: string, going?: Going): Promise<Stops> => this.long<Stops>("stops", { text: condition }, going);
  differences = (going?: Going): Promise<Differences> => this.long<Differences>("differences", {}, going);
  readonly before: Store = {
    meta: () => this.json<Meta>("meta", 0, { before: true }),
    window: (index) => this.json<Window>("window", index, { before: true }),
    chunk: (index) => this.json<TrackerChunk>("chunk", index, { before: true }),
    later: (index) => this.json<LaterChunk>("later", index, { before: true }),
    touched: (index) => this.json<TouchedChunk>("touched", index, { before: true }),
    under: (node, going) => this.long<Dispatcher>("under", { text: String(node), before: true }, going),
    graphviz: () => this.graphviz(),
    panes: () => this.panes(),
    stops: (condition, going) => this.long<Stops>("stops", { text: condition, before: true }, going),
    trouble: this.trouble,
  };

  /** Stop listening; open requests are never answered. */
  close(): void {
    this.channel.off("msg:custom", this.answered);
    clearTimeout(this.slow);
    this.waiting.clear();
  }

  /** The kernel is gone, and answers nothing any more. */
  lost(): void {
    clearTimeout(this.slow);
    this.trouble.value = GONE;
    for (const { reject } of this.waiting.values()) reject(new Error("not loaded"));
    this.waiting.clear();
  }

  private async json<T>(ask: string, index: number, more: More = {}): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await this.ask(ask, index, more))) as T;
  }

  /** Have the kernel do long work, a moment at a time. It rejects where `going` does not want it any more. */
  private async long<T>(ask: string, more: More, going: Going = () => true): Promise<T> {
    const first = this.asked + 1;
    for (let index = 0; ; index = first) {
      const answer = await this.json<T | Unfinished>(ask, index, more);
      if (!isUnfinished(answer)) return answer;
      if (going(answer)) continue;
      await this.json("stop", first);
      throw new Error("It was stopped.");
    }
  }

  private ask(ask: string, index: number, more: More = {}): Promise<DataView> {
    const id = ++this.asked;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (!SLOW_ONES.includes(ask)) this.slow ??= setTimeout(() => (this.trouble.value ||= BUSY), SLOW);
      try {
        this.channel.send({ id, ask, index, ...more });
      } catch {
        this.lost(); // the host has closed the connection
      }
    });
  }

  private readonly answered = (content: unknown, buffers: DataView[]): void => {
    const answer = content as Answer;
    const waiting = this.waiting.get(answer.id);
    if (!waiting) return;
    this.waiting.delete(answer.id);
    clearTimeout(this.slow);
    this.slow = undefined;
    this.trouble.value = "";
    const [buffer] = buffers;
    if (answer.error !== undefined) waiting.reject(new Error(answer.error));
    else if (!buffer) waiting.reject(new Error("The kernel answered without data."));
    else waiting.resolve(buffer);
  };
}

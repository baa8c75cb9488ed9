// A trace in the kernel, requested by anywidget's custom messages.
//
// Request: {id, ask: "meta" | "window" | "chunk" | "fixes" | "differences", index, before}. Answer: {id} with one buffer of JSON, or {id, error}.
import type { Differences, Fixes, Meta, TrackerChunk, Window } from "../schema";
import type { Store } from "./store";

/** The part of anywidget's model that is used here. */
export interface Channel {
  send(content: unknown): void;
  on(name: "msg:custom", callback: (content: unknown, buffers: DataView[]) => void): void;
  off(name: "msg:custom", callback: (content: unknown, buffers: DataView[]) => void): void;
}

interface Answer {
  id: number;
  error?: string;
}

type Waiting = { resolve(value: unknown): void; reject(error: Error): void };

export class KernelStore implements Store {
  private asked = 0;
  private readonly waiting = new Map<number, Waiting>();

  readonly before?: Store;
  readonly differences?: () => Promise<Differences>;

  /** `compared`: the kernel has another recording to compare with. */
  constructor(private readonly channel: Channel, compared = false) {
    channel.on("msg:custom", this.answered);
    if (!compared) return;
    this.differences = () => this.ask<Differences>("differences", 0);
    this.before = {
      meta: () => this.ask<Meta>("meta", 0, true),
      window: (index) => this.ask<Window>("window", index, true),
      chunk: (index) => this.ask<TrackerChunk>("chunk", index, true),
    };
  }

  meta = (): Promise<Meta> => this.ask<Meta>("meta", 0);
  window = (index: number): Promise<Window> => this.ask<Window>("window", index);
  chunk = (index: number): Promise<TrackerChunk> => this.ask<TrackerChunk>("chunk", index);
  fixes = (): Promise<Fixes> => this.ask<Fixes>("fixes", 0);

  /** Stop listening; open requests are never answered. */
  close(): void {
    this.channel.off("msg:custom", this.answered);
    this.waiting.clear();
  }

  private ask<T>(ask: string, index: number, before = false): Promise<T> {
    const id = ++this.asked;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.channel.send(before ? { id, ask, index, before } : { id, ask, index });
    });
  }

  private readonly answered = (content: unknown, buffers: DataView[]): void => {
    const answer = content as Answer;
    const waiting = this.waiting.get(answer.id);
    if (!waiting) return;
    this.waiting.delete(answer.id);
    const [buffer] = buffers;
    if (answer.error !== undefined) waiting.reject(new Error(answer.error));
    else if (!buffer) waiting.reject(new Error("The kernel answered without data."));
    else waiting.resolve(JSON.parse(new TextDecoder().decode(buffer)));
  };
}

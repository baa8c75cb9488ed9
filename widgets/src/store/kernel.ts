// A trace in the kernel, requested by anywidget's custom messages.
//
// Request: {id, ask: "meta" | "window" | "chunk" | "fixes" | "stops", index, text}. Answer: {id} with one buffer of JSON, or {id, error}.
import type { Fixes, Meta, Stops, TrackerChunk, Window } from "../schema";
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

  constructor(private readonly channel: Channel) {
    channel.on("msg:custom", this.answered);
  }

  meta = (): Promise<Meta> => this.ask<Meta>("meta", 0);
  window = (index: number): Promise<Window> => this.ask<Window>("window", index);
  chunk = (index: number): Promise<TrackerChunk> => this.ask<TrackerChunk>("chunk", index);
  fixes = (): Promise<Fixes> => this.ask<Fixes>("fixes", 0);
  stops = (condition: string): Promise<Stops> => this.ask<Stops>("stops", 0, condition);

  /** Stop listening; open requests are never answered. */
  close(): void {
    this.channel.off("msg:custom", this.answered);
    this.waiting.clear();
  }

  private ask<T>(ask: string, index: number, text = ""): Promise<T> {
    const id = ++this.asked;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.channel.send(text === "" ? { id, ask, index } : { id, ask, index, text });
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

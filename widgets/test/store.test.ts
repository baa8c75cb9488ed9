import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { KernelStore } from "../src/store/kernel";
import type { Channel } from "../src/widget";
import { Lru } from "../src/store/lru";
import { blocksIn, blocksOf, PageStore } from "../src/store/page";
import { Model } from "../src/model";
import type { FixesSoFar, Unfinished } from "../src/schema";
import type { Store } from "../src/store/store";
import { meta } from "./fixture";

type Listener = (content: unknown, buffers: DataView[]) => void;

class FakeChannel implements Channel {
  sent: { id: number; ask: string; index: number }[] = [];
  listeners = new Set<Listener>();
  send(content: unknown): void {
    this.sent.push(content as { id: number; ask: string; index: number });
  }
  on(_name: string, callback: Listener): void {
    this.listeners.add(callback);
  }
  off(_name: string, callback: Listener): void {
    this.listeners.delete(callback);
  }
  answer(content: unknown, value?: unknown): void {
    const buffers = value === undefined ? [] : [new DataView(new TextEncoder().encode(JSON.stringify(value)).buffer)];
    for (const listener of this.listeners) listener(content, buffers);
  }
}

describe("a trace in the kernel", () => {
  it("matches answers to questions, whatever their order", async () => {
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const [first, second] = [store.window(3), store.chunk(4)];
    expect(channel.sent).toEqual([{ id: 1, ask: "window", index: 3 }, { id: 2, ask: "chunk", index: 4 }]);
    channel.answer({ id: 99 }, "nobody asked");
    channel.answer({ id: 2 }, { first: 8, trackers: [] });
    channel.answer({ id: 1 }, { first: 12, steps: [] });
    expect(await first).toEqual({ first: 12, steps: [] });
    expect(await second).toEqual({ first: 8, trackers: [] });
  });

  it("passes errors on, and stops listening when closed", async () => {
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const asked = store.meta();
    channel.answer({ id: 1, error: "IndexError: no such window" });
    await expect(asked).rejects.toThrow("no such window");
    const empty = store.meta();
    channel.answer({ id: 2 });
    await expect(empty).rejects.toThrow("without data");
    store.close();
    expect(channel.listeners.size).toBe(0);
  });
});

describe("long work in the kernel", () => {
  const unfinished = (done: number): Unfinished => ({ done, total: 3, unfinished: true });
  const found = { condition: "changes(x)", steps: [4], names: true, error: "" };
  const turn = (): Promise<void> => new Promise((done) => setTimeout(done));

  it("is asked to go on until it is finished, and tells how far it is", async () => {
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const told: number[] = [];
    const stops = store.stops("x changes", (so) => told.push(so.done) > 0);
    channel.answer({ id: 1 }, unfinished(1));
    await turn();
    channel.answer({ id: 2 }, unfinished(2));
    await turn();
    channel.answer({ id: 3 }, found);
    expect(await stops).toEqual(found);
    expect(told).toEqual([1, 2]);
    expect(channel.sent).toEqual([0, 1, 1].map((index, i) => ({ id: i + 1, ask: "stops", index, text: "x changes" })));
  });

  it("is stopped where nobody wants it any more", async () => {
    const channel = new FakeChannel();
    const asked = new KernelStore(channel).differences(() => false);
    channel.answer({ id: 1 }, unfinished(1));
    await turn();
    channel.answer({ id: 2 }, null);
    await expect(asked).rejects.toThrow("It was stopped.");
    expect(channel.sent).toEqual([{ id: 1, ask: "differences", index: 0 }, { id: 2, ask: "stop", index: 1 }]);
  });
});

describe("a trace in the page", () => {
  it("is read from its blocks", async () => {
    const block = document.createElement("script");
    block.type = "application/json";
    block.dataset["tracewalkBlock"] = "meta";
    block.textContent = gzipSync(JSON.stringify(meta())).toString("base64");
    document.body.append(block);
    expect(await new PageStore(blocksOf(document)).meta()).toEqual(meta());
    await expect(new PageStore(blocksOf(document)).window(7)).rejects.toThrow('"window-7"');
  });
});

describe("kept answers", () => {
  it("are asked for once, and the oldest are let go", async () => {
    const load = vi.fn((index: number) => Promise.resolve(index * 10));
    let arrivals = 0;
    const kept = new Lru(load, 2, () => arrivals++);
    expect(kept.get(1)).toBe("loading");
    expect(kept.get(1)).toBe("loading");
    await Promise.resolve();
    expect(kept.get(1)).toEqual({ value: 10 });
    expect([load.mock.calls.length, arrivals]).toEqual([1, 1]);
    for (const index of [2, 3]) {
      kept.get(index);
      await Promise.resolve();
    }
    expect(kept.size).toBe(2);
    expect(kept.get(3)).toEqual({ value: 30 });
    expect(kept.get(1)).toBe("loading");
  });

  it("can be asked for again after a failure", async () => {
    let works = false;
    const kept = new Lru(() => (works ? Promise.resolve("there") : Promise.reject(new Error("kernel died"))), 2, () => {});
    kept.get(0);
    await new Promise((done) => setTimeout(done));
    expect(kept.get(0)).toEqual({ error: "kernel died" });
    works = true;
    kept.retry();
    kept.get(0);
    await new Promise((done) => setTimeout(done));
    expect(kept.get(0)).toEqual({ value: "there" });
  });
});

describe("what is under a node", () => {
  it("is asked for twice, and stopped in between where nobody wants it any more", async () => {
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const wanted = store.under(7, () => true);
    channel.answer({ id: 1 }, { done: 0, total: 0, unfinished: true });
    await vi.waitFor(() => expect(channel.sent.length).toBe(2));
    channel.answer({ id: 2 }, meta().dispatcher);
    expect(await wanted).toEqual(meta().dispatcher);
    const unwanted = store.under(7, () => false);
    channel.answer({ id: 3 }, { done: 0, total: 0, unfinished: true });
    await vi.waitFor(() => expect(channel.sent.length).toBe(4));
    channel.answer({ id: 4 }, null);
    await expect(unwanted).rejects.toThrow("was stopped");
    expect(channel.sent).toEqual([
      { id: 1, ask: "under", index: 0, text: "7" }, { id: 2, ask: "under", index: 1, text: "7" },
      { id: 3, ask: "under", index: 0, text: "7" }, { id: 4, ask: "stop", index: 3 },
    ]);
  });
});

describe("a kernel that does not answer", () => {
  it("is told of once it is slow, until an answer comes", async () => {
    vi.useFakeTimers();
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const asked = store.window(1);
    void store.window(2);
    expect(store.trouble.value).toBe("");
    vi.advanceTimersByTime(3500);
    expect(store.trouble.value).toContain("does not answer");
    channel.answer({ id: 1 }, { first: 0, steps: [] });
    expect(store.trouble.value).toBe("");
    await asked;
    vi.useRealTimers();
  });

  it("is gone where the host has closed the connection", async () => {
    const channel = new FakeChannel();
    const store = new KernelStore(channel);
    const open = store.chunk(0);
    channel.send = () => {
      throw new Error("Cannot send");
    };
    await expect(store.window(1)).rejects.toThrow("not loaded");
    await expect(open).rejects.toThrow("not loaded");
    expect(store.trouble.value).toContain("is gone");
  });
});

describe("a trace in an output", () => {
  it("is read from the words of an attribute, and has the kernel only while there is one", async () => {
    const packed = (value: unknown): string => gzipSync(JSON.stringify(value)).toString("base64");
    let kernel: KernelStore | null = null;
    const store = new PageStore(blocksIn(`meta ${packed(meta())} window-0 ${packed({ first: 0, steps: [] })}`), () => kernel);
    expect(await store.meta()).toEqual(meta());
    expect(await store.window(0)).toEqual({ first: 0, steps: [] });
    await expect(store.window(1)).rejects.toThrow('"window-1"');
    expect(store.fixes).toBeUndefined();
    await expect(store.graphviz()).rejects.toThrow("comes from the kernel");
    const channel = new FakeChannel();
    kernel = new KernelStore(channel);
    expect(store.fixes).toBe(kernel.fixes);
    expect(store.under).toBe(kernel.under);
    void store.graphviz();
    expect(channel.sent).toEqual([{ id: 1, ask: "graphviz", index: 0 }]);
  });
});

describe("trying changes", () => {
  const so = (done: number, next: string | null): FixesSoFar => ({ fixes: { before: null, problems: [], notes: [] }, done, total: 3, next });

  /** A model whose kernel answers when `answer` is called. */
  function trying(): { model: Model; asked: boolean[]; answer(value: FixesSoFar | Error): Promise<void> } {
    const asked: boolean[] = [];
    let settle: (value: FixesSoFar | Error) => void = () => {};
    const fixes = (start: boolean): Promise<FixesSoFar> => {
      asked.push(start);
      return new Promise((resolve, reject) => {
        settle = (value) => (value instanceof Error ? reject(value) : resolve(value));
      });
    };
    const model = new Model(meta(), { fixes } as unknown as Store, 0);
    const answer = async (value: FixesSoFar | Error): Promise<void> => {
      settle(value);
      await new Promise((resolve) => setTimeout(resolve));
    };
    return { model, asked, answer };
  }

  it("asks for one after the other, and shows what came of them meanwhile", async () => {
    const { model, asked, answer } = trying();
    void model.tryFixes();
    void model.tryFixes();
    expect(model.trying.value).toBe("running");
    await answer(so(0, "a"));
    expect(model.fixes.value).toEqual(so(0, "a"));
    await answer(so(3, null));
    expect([asked, model.trying.value]).toEqual([[true, false], "idle"]);
  });

  it("stops after the one that runs, and starts anew", async () => {
    const { model, asked, answer } = trying();
    void model.tryFixes();
    await answer(so(0, "a"));
    model.stopTrying();
    expect(model.trying.value).toBe("stopping");
    await answer(so(1, "b"));
    expect([asked, model.trying.value, model.fixes.value]).toEqual([[true, false], "idle", so(1, "b")]);
    void model.tryFixes();
    expect(asked).toEqual([true, false, true]);
    await answer(new Error("The kernel was interrupted."));
    expect(model.trying.value).toEqual({ error: "The kernel was interrupted." });
  });
});

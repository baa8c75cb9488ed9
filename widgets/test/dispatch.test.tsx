// What is under a node: asked for, waited for no longer, and counted in the Dispatch pane.
import { afterEach, describe, expect, it } from "vitest";
import type { Dispatcher, DispatchRun, DispatchStep } from "../src/schema";
import type { Going } from "../src/store/store";
import { FixedStore, settle, Shown } from "./explorer";
import { meta } from "./fixture";

const step = (id: number, run: number, last = id, depth = 0): DispatchStep => ({
  id, run, parent: depth > 0 ? id - 1 : null, depth, last_step: last, operator: `aten.op${id}.default`, args: "", inputs: [], modes: 0, decisions: [["emit", "It is one."]], nodes: [], results: [], error: "",
});
const run = (id: number, node: number, first: number, last: number): DispatchRun => ({ id, label: `node${node}`, node, direction: "forward", first_step: first, last_step: last, code: "", error: "" });

/** Two calls under node 0, and three under node 1, of which one is inside another. */
const both = (): Dispatcher => ({
  runs: [run(0, 0, 0, 1), run(1, 1, 2, 4)], steps: [step(0, 0), step(1, 0), step(2, 1), step(3, 1, 4), step(4, 1, 4, 1)], nodes: [], stacks: [["Mode"]], fakes: [],
});

class TracingStore extends FixedStore {
  requests: { node: number; going: Going | undefined; resolve(dispatcher: Dispatcher): void; reject(error: Error): void }[] = [];
  under = (node: number, going?: Going): Promise<Dispatcher> => new Promise((resolve, reject) => this.requests.push({ node, going, resolve, reject }));
}

const SO = { done: 0, total: 0, unfinished: true };
let shown: Shown;
afterEach(() => shown.remove());

async function withNode(): Promise<TracingStore> {
  const store = new TracingStore();
  const made = meta();
  for (const node of made.nodes) node.op = "call_function";
  shown = await Shown.of(made, store);
  shown.model.openNode(0, true);
  await settle();
  return store;
}

describe("the Dispatch pane", () => {
  it("counts the calls of the run that is shown, also those that are folded", async () => {
    shown = await Shown.of({ ...meta(), dispatcher: both() });
    const position = async (at: number): Promise<string | null | undefined> => {
      shown.model.openDispatched(at);
      await settle();
      return shown.part("dispatch-position")?.textContent;
    };
    expect([await position(0), await position(1), await position(2), await position(4)]).toEqual(["call 0 of 2", "call 1 of 2", "call 0 of 3", "call 2 of 3"]);
    expect(shown.all("[data-testid=dispatch-call]").length).toBe(3);
    shown.all(".tw-dispatch-call .tw-caret[aria-expanded]")[0]?.click();
    await settle();
    expect(shown.all("[data-testid=dispatch-call]").length).toBe(2);
    expect(shown.part("dispatch-position")?.textContent).toBe("call 1 of 3");
  });
});

describe("tracing under a node", () => {
  it("is waited for, and then opened", async () => {
    const store = await withNode();
    shown.part("under-forward")?.click();
    await settle();
    expect(shown.part("stop-tracing")).not.toBeNull();
    expect(store.requests[0]?.going?.(SO)).toBe(true);
    store.requests[0]?.resolve(both());
    await settle();
    expect([shown.model.tab.value, shown.part("dispatch-position")?.textContent]).toEqual(["dispatch", "call 0 of 2"]);
  });

  it("is stopped, and can be asked for again at once", async () => {
    const store = await withNode();
    shown.part("under-forward")?.click();
    await settle();
    shown.part("stop-tracing")?.click();
    await settle();
    expect(shown.part("stop-tracing")).toBeNull();
    shown.part("under-forward")?.click();
    await settle();
    expect(store.requests.map(({ going }) => going?.(SO))).toEqual([false, true]);
    store.requests[0]?.reject(new Error("It was stopped."));
    await settle();
    expect([shown.part("stop-tracing") === null, shown.model.notice.value]).toEqual([false, ""]);
    store.requests[1]?.reject(new Error("The kernel was interrupted."));
    await settle();
    expect([shown.part("stop-tracing"), shown.model.notice.value]).toEqual([null, "The kernel was interrupted."]);
  });

  it("that was stopped too late is in the recording, and moves nobody", async () => {
    const store = await withNode();
    shown.part("under-forward")?.click();
    await settle();
    shown.part("stop-tracing")?.click();
    store.requests[0]?.resolve(both());
    await settle();
    expect([shown.model.tab.value, shown.model.dispatcher.value.runs.length]).toEqual(["graph", 2]);
  });
});

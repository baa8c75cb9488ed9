// Two recordings compared: the alignment, the two explorers in step, and the panes Compare and Story.
import { gzipSync } from "node:zlib";
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NEEDS_KERNEL } from "../src/comparing";
import { Alignment } from "../src/logic/align";
import { Model } from "../src/model";
import type { Differences, LaterChunk, Meta, TouchedChunk, TrackerChunk, Window } from "../src/schema";
import { blocksOf, PageStore } from "../src/store/page";
import { KernelStore } from "../src/store/kernel";
import type { Going, Store } from "../src/store/store";
import { Pair } from "../src/view/pair";
import { guard, meta, snapshot, windowOf } from "./fixture";

//            before:  3  5  6  .  11
//            after:   3  .  6  8  11
const PAIRS: Differences["pairs"] = [[3, 3], [5, null], [6, 6], [null, 8], [11, 11]];

describe("the alignment", () => {
  const alignment = new Alignment(PAIRS);
  it("leads to the same line, or else to the last one before that both ran", () => {
    expect([2, 3, 4, 5, 6, 7, 10, 12].map((step) => alignment.across("before", step))).toEqual([3, 3, 3, 3, 6, 6, 6, 11]);
    expect([6, 8, 9, 11].map((step) => alignment.across("after", step))).toEqual([6, 6, 6, 11]);
  });
  it("knows the lines that only one ran", () => {
    expect([3, 5, 6].map((step) => alignment.isAlone("before", step))).toEqual([false, true, false]);
    expect([8, 11].map((step) => alignment.isAlone("after", step))).toEqual([true, false]);
  });
  it("has no step where nothing ran", () => {
    expect(new Alignment([]).across("before", 3)).toBeNull();
    expect(new Alignment([[null, 4]]).across("before", 0)).toBe(4);
  });
});

const DIFFERENCES: Differences = {
  before: "f(x)", after: "f(x), mended", headline: "breaks 1 → 0.", figures: [{ name: "breaks", before: 1, after: 0 }, { name: "seconds", before: 0.5, after: 0.25 }],
  changes: [
    { kind: "breaks", gone: [{ name: "breaks", title: "", rows: [{ text: "The code calls `print()`.", place: "outer.py:3, in outer", source: "", notes: [], step: 11, pane: "breaks", item: 0 }] }], new: [] },
    { kind: "guards", gone: [], new: [{ name: "guards", title: "x", rows: [{ text: "x == 2", place: "", source: "", notes: [], step: 4, pane: "guards", item: 0 }] }] },
  ],
  parts_at: [5, 6], pairs: PAIRS,
};

const told: Meta["story"] = [
  { title: "The call", text: "`outer` was called.", step: 3, look: "source", hint: "the line.", item: null, value: "" },
  { title: "A guard", text: "It relied on a fact.", step: 4, look: "guards", hint: "the guard.", item: 1, value: "x" },
  { title: "A call", text: "Served.", step: null, look: "calls", hint: "the call.", item: 0, value: "" },
  { title: "A symbol", text: "It is any.", step: 4, look: "values", hint: "where it is.", item: null, value: "value" },
];

class FixedStore implements Store {
  graphviz = (): Promise<BlobPart> => Promise.resolve("");
  meta = (): Promise<Meta> => Promise.resolve({ ...meta(), guards: [guard(0, ["L['x']"]), guard(1, ["L['y']"])], story: told });
  window = (index: number): Promise<Window> => {
    return Promise.resolve(windowOf(4 * index, 4));
  };
  chunk = (index: number): Promise<TrackerChunk> =>
    Promise.resolve({ first: 2 * index, trackers: [0, 1].map(() => ({ snapshots: [snapshot(-1, "value")], made_by: null, later: [], later_steps: [], changed: [] })) });
  later = (): Promise<LaterChunk> => Promise.reject(new Error("no history is long"));
  touched = (index: number): Promise<TouchedChunk> => Promise.resolve({ first: 2 * index, trackers: [[[4], 1], [[], 0]] });
}

class ComparedStore extends FixedStore {
  fails = false;
  before = new FixedStore();
  differences = (): Promise<Differences> => (this.fails ? Promise.reject(new Error("it is gone")) : Promise.resolve(DIFFERENCES));
}

const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 20));
let place: HTMLElement;
let model: Model;
const part = (name: string): HTMLElement | null => place.querySelector(`[data-testid="${name}"]`);
const parts = (name: string): HTMLElement[] => [...place.querySelectorAll<HTMLElement>(`[data-testid="${name}"]`)];

async function show(store: Store, compared = store instanceof ComparedStore): Promise<void> {
  model = new Model(await store.meta(), store, 0, [], compared);
  render(<Pair model={model} height={null} />, place);
  await settle();
}

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  place = document.createElement("div");
  document.body.append(place);
});
afterEach(() => render(null, place));

describe("the pane Compare", () => {
  const open = async (store: Store = new ComparedStore(), compared?: boolean): Promise<void> => {
    await show(store, compared);
    part("tab-compare")?.click();
    await settle();
    // Effects run after the frame is drawn, which takes long on a busy machine.
    if (model.comparing.value) await vi.waitFor(() => expect(place.querySelector('[data-testid="differences"], [role="alert"]')).not.toBeNull());
  };
  const positions = (): number[] => {
    const models = model.comparing.value?.loaded?.models;
    return [models?.before.position.value ?? -1, models?.after.position.value ?? -1];
  };

  it("says what it could compare where there is one recording alone", async () => {
    await open(new FixedStore());
    expect(part("pane")?.textContent).toContain("To compare two runs, run the traced cell again after a change");
  });

  it("shows numbers, and what is gone and new, in words too", async () => {
    await open();
    expect(part("differences")?.textContent).toBe("breaks 1 → 0.");
    expect(parts("figure").map((row) => row.textContent)).toEqual(["breaks10", "time to compile0.50 s0.25 s"]);
    expect(parts("changed").map((row) => row.textContent)).toEqual(["−gone The code calls print(). outer.py:3, in outer", "+new x == 2 step 4"]);
    expect(part("changed-guards")?.textContent).toContain("x");
  });

  it("says that the other recording needs the kernel, and compares once that is there", async () => {
    class Late extends FixedStore {
      before?: Store;
      differences?: () => Promise<Differences>;
    }
    const store = new Late();
    await open(store, true);
    expect(part("pane")?.textContent).toContain(`They cannot be compared: ${NEEDS_KERNEL}`);
    const whole = new ComparedStore();
    Object.assign(store, { before: whole.before, differences: whole.differences });
    model.comparing.value?.retry();
    await settle();
    expect(part("differences")?.textContent).toBe("breaks 1 → 0.");
  });

  it("shows how far a long comparison is, stops it, and compares when asked again", async () => {
    let going: Going = () => true;
    let answer: (found: Differences) => void = () => {};
    const store = Object.assign(new ComparedStore(), {
      differences: (each: Going = () => true) => {
        going = each;
        return new Promise<Differences>((done) => (answer = done));
      },
    });
    await show(store);
    part("tab-compare")?.click();
    await vi.waitFor(() => expect(part("stop-comparing")).not.toBeNull());
    expect(going({ done: 1, total: 2, unfinished: true })).toBe(true);
    await vi.waitFor(() => expect(place.querySelector("progress")?.value).toBe(1));
    part("stop-comparing")?.click();
    await settle();
    expect(going({ done: 2, total: 2, unfinished: true })).toBe(false);
    expect(part("pane")?.textContent).toContain("The comparison was stopped.");
    part("tab-graph")?.click();
    await settle();
    part("tab-compare")?.click();
    await settle();
    part("compare-again")?.click();
    await settle();
    answer(DIFFERENCES);
    await vi.waitFor(() => expect(part("differences")?.textContent).toBe("breaks 1 → 0."));
  });

  it("says what failed, and asks again", async () => {
    const store = new ComparedStore();
    store.fails = true;
    await open(store);
    expect(part("pane")?.textContent).toContain("They cannot be compared: it is gone");
    store.fails = false;
    [...(part("pane")?.querySelectorAll("button") ?? [])].find((one) => one.textContent === "try again")?.click();
    await settle();
    expect(part("differences")).not.toBeNull();
  });

  it("keeps both in step, in either direction", async () => {
    await open();
    expect(positions()).toEqual([3, 3]);
    model.go(11);
    expect(positions()).toEqual([11, 11]);
    model.go(8);
    expect(positions()).toEqual([6, 8]);
    model.comparing.value?.loaded?.models.before.go(5);
    expect(positions()).toEqual([5, 3]);
    model.comparing.value?.loaded?.models.before.go(12);
    expect(positions()).toEqual([12, 11]);
    model.go(12);
    expect(positions(), "the same line").toEqual([12, 12]);
  });

  it("lists the lines of the user's own code, and of libraries where they are shown", async () => {
    const store = new ComparedStore();
    for (const one of [store, store.before]) {
      const meta = one.meta;
      one.meta = async () => {
        const made = await meta();
        return { ...made, codes: made.codes.map((each) => (each.name === "helper" ? { ...each, owner: "package" } : each)) };
      };
    }
    await open(store);
    const rows = (): (string | undefined)[] => parts("compared-line").map((row) => row.dataset.row);
    expect(rows()).toEqual(["0", "4"]);
    model.go(8);
    await settle();
    expect(place.querySelector<HTMLElement>("[data-testid=compared-line][aria-current]")?.dataset.row, "the line that called the library").toBe("0");
    part("my-code")?.click();
    await settle();
    expect(rows()).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("lets each go alone where that is chosen", async () => {
    await open();
    part("linked")?.click();
    await settle();
    model.go(11);
    expect(positions()).toEqual([3, 11]);
  });

  it("goes to the first difference in both, and stays there", async () => {
    await open();
    part("first-difference")?.click();
    await settle();
    expect(positions()).toEqual([5, 6]);
    part("linked")?.click();
    part("linked")?.click();
    await settle();
    expect(positions()).toEqual([5, 6]);
  });

  it("shows both explorers, and the one before where a row of it is chosen", async () => {
    await open();
    expect(parts("explorer")).toHaveLength(1);
    part("changed")?.querySelector<HTMLElement>("[data-step]")?.click();
    await settle();
    expect(parts("explorer")).toHaveLength(2);
    expect(parts("position").map((one) => one.textContent)).toEqual(["step 11 of 13", "step 11 of 13"]);
    expect(parts("before-after"), "only the later one is compared with one before").toHaveLength(0);
    expect(part("explorer-before")?.getAttribute("aria-label")).toBe("Before: f(x)");
  });

  it("is offered in the overview", async () => {
    await show(new ComparedStore());
    part("before-after")?.click();
    await settle();
    expect(part("pane")?.dataset["pane"]).toBe("compare");
  });
});

describe("the pane Story", () => {
  const press = async (key: string): Promise<void> => {
    part("explorer")?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await settle();
  };

  it("goes from station to station by keys, and opens and marks what each points to", async () => {
    await show(new FixedStore());
    await press("t");
    expect(part("pane")?.dataset["pane"]).toBe("story");
    expect(part("explorer")?.dataset["look"]).toBe("source");
    expect(part("position")?.textContent).toBe("step 3 of 13");
    await press("t");
    expect(part("explorer")?.dataset["look"]).toBe("guards");
    expect(part("story-look")?.querySelector(".tw-picked")?.textContent).toContain("guard 1");
    await press("t");
    expect(part("position")?.textContent, "it has no step of its own").toBe("step 4 of 13");
    await press("t");
    expect(place.querySelectorAll(".tw-value.tw-sought").length).toBeGreaterThan(0);
    await press("t");
    expect(part("notice")?.textContent).toBe("This is the last station.");
    await press("T");
    expect(place.querySelector("[aria-current='step'] .tw-station-title")?.textContent).toBe("A call");
    for (let i = 0; i < 3; i++) await press("T");
    expect(part("notice")?.textContent).toBe("This is the first station.");
  });

  it("goes to a station that is clicked, and marks nothing in other panes", async () => {
    await show(new FixedStore());
    part("tab-story")?.click();
    await settle();
    parts("station")[1]?.querySelector("button")?.click();
    await settle();
    expect(part("position")?.textContent).toBe("step 4 of 13");
    part("tab-graph")?.click();
    await settle();
    expect(part("explorer")?.dataset["look"]).toBe("");
  });
});

describe("stores", () => {
  it("ask the kernel for the recording before", async () => {
    const sent: unknown[] = [];
    const store = new KernelStore({ send: (content) => sent.push(content), on() {}, off() {} });
    void store.before.window(3);
    void store.before.stops?.("x");
    void store.differences();
    expect(sent).toEqual([
      { id: 1, ask: "window", index: 3, before: true },
      { id: 2, ask: "stops", index: 0, text: "x", before: true },
      { id: 3, ask: "differences", index: 0 },
    ]);
  });

  it("find the recording before in a page that has one", () => {
    const page = document.createElement("div");
    expect(new PageStore(blocksOf(page)).before).toBeUndefined();
    page.innerHTML = '<script type="application/json" data-tracewalk-block="differences-0"></script>';
    expect(new PageStore(blocksOf(page)).before).toBeDefined();
  });

  it("read the blocks of the recording before, and share Graphviz", async () => {
    const packed = (value: unknown): string => gzipSync(JSON.stringify(value)).toString("base64");
    const names: string[] = [];
    const blocks = new Map([["differences-0", packed(DIFFERENCES)], ["before-window-1", packed({ first: 4, steps: [] })], ["graphviz", packed("code")]]);
    const store = new PageStore((name) => {
      names.push(name);
      return blocks.get(name);
    });
    expect(await store.differences?.()).toEqual(DIFFERENCES);
    expect(await store.before?.window(1)).toEqual({ first: 4, steps: [] });
    expect(await store.before?.graphviz()).toBeInstanceOf(ArrayBuffer);
    expect(names.filter((name) => name.includes("graphviz")).every((name) => name === "graphviz")).toBe(true);
  });

  it("ask the kernel for the recording before where the file has this one alone", async () => {
    let kernel: Store | null = null;
    const store = new PageStore(() => undefined, () => kernel);
    expect(store.before ?? store.differences).toBeUndefined();
    kernel = new ComparedStore();
    expect(store.before).toBe(kernel.before);
    expect(await store.differences?.()).toEqual(DIFFERENCES);
  });
});

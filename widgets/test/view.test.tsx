// The views over a hand-written recording: what a person reads, and that a failing pane stays in its place.
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "../src/commands";
import { Model } from "../src/model";
import { INSTR, type LaterChunk, type Stops, type TouchedChunk, type TrackerChunk, type Window } from "../src/schema";
import type { Going, Store } from "../src/store/store";
import { themeOf } from "../src/view/theme";
import { Root } from "../src/view/root";
import { guard, libraryMeta, meta, snapshot, windowOf } from "./fixture";

/** The names of some trackers. */
const named = [
  { name: "the result of `f(x)`, outer.py:2" },
  { name: "self.conv", source: "L['self']._modules['conv']" },
];

class FixedStore implements Store {
  asked: string[] = [];
  broken = false;
  meta = () => Promise.resolve(meta());
  window = (index: number): Promise<Window> => {
    this.asked.push(`window ${index}`);
    if (this.broken) return Promise.reject(new Error("the kernel is gone"));
    return Promise.resolve(windowOf(4 * index, 4, " did it"));
  };
  chunk = (index: number): Promise<TrackerChunk> =>
    Promise.resolve({ first: 2 * index, trackers: [0, 1].map((i) => ({ snapshots: [{ ...snapshot(-1, `value ${2 * index + i}`), ...named[2 * index + i] }], made_by: null, later: [], later_steps: [], changed: [] })) });
  later = (): Promise<LaterChunk> => Promise.reject(new Error("no history is long"));
  touched = (index: number): Promise<TouchedChunk> => Promise.resolve({ first: 2 * index, trackers: [[[4], 1], [[], 0]] });
}

const settle = (): Promise<void> => new Promise((done) => setTimeout(done, 60)); // two frames: steps, then their values
let place: HTMLElement;
let store: FixedStore;
let model: Model;
const part = (name: string): HTMLElement | null => place.querySelector(`[data-testid="${name}"]`);

beforeEach(async () => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  place = document.createElement("div");
  document.body.append(place);
  store = new FixedStore();
  model = new Model(meta(), store, 0);
  render(<Root model={model} height={null} />, place);
  await settle();
});
afterEach(() => render(null, place));

describe("the explorer", () => {
  it("starts at the first step that does something, with its values", () => {
    expect(part("position")?.textContent).toBe("step 3 of 13");
    expect(part("sentence")?.textContent).toBe("step 3 did it.");
    expect(part("stack")?.textContent).toContain("value 0");
    expect(part("locals")?.textContent).toContain("value 1");
    expect(part("source-current")?.textContent).toContain("y = helper(x)");
  });

  it("says what the program calls a value, and its exact source as a detail", async () => {
    expect(part("stack")?.querySelector(".tw-from")?.textContent).toBe("the result of f(x), outer.py:2");
    const local = part("locals")!.querySelector<HTMLButtonElement>("button.tw-value")!;
    expect(local.querySelector(".tw-from")?.textContent).toBe("self.conv");
    expect(local.querySelector(".tw-from")?.getAttribute("title")).toBe("L['self']._modules['conv']");
    local.click();
    await settle();
    expect(part("locals")?.textContent).toContain("sourceL['self']._modules['conv']");
  });

  it("asks for windows around the position, each once", async () => {
    model.go(7);
    await settle();
    model.go(6);
    await new Promise((done) => setTimeout(done, 300));
    expect(store.asked.sort()).toEqual(["window 0", "window 1", "window 2"]);
  });

  it("follows keys, and lets none of them out", async () => {
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    part("explorer")?.dispatchEvent(new KeyboardEvent("keydown", { key: "i", bubbles: true }));
    await settle();
    expect(part("position")?.textContent).toBe("step 5 of 13");
    expect([...place.querySelectorAll(".tw-frame-name")].map((name) => name.textContent)).toEqual(["outer", "helper"]);
    expect(heard).not.toHaveBeenCalled();
    document.body.removeEventListener("keydown", heard);
  });

  it("says among the breaks what is missing from the recording", async () => {
    const lost = [{ what: "a node", error: "TypeError: odd", count: 2, step: 3, attempt: 0 }];
    render(null, place);
    render(<Root model={new Model({ ...meta(), lost }, store, 0)} height={null} />, place);
    await settle();
    part("tab-breaks")?.click();
    await settle();
    expect(part("lost")?.textContent).toContain("a node, 2 times: TypeError: odd");
    expect(part("lost")?.querySelector("[data-step='3']")).not.toBeNull();
  });

  it("shows failed attempts when it is sent into one", async () => {
    model.go(1);
    await settle();
    expect((part("failed-attempts") as HTMLInputElement).checked).toBe(true);
  });

  it("says why values are missing, and asks again", async () => {
    store.broken = true;
    model.go(12);
    await settle();
    expect(place.textContent).toContain("the kernel is gone");
    store.broken = false;
    [...place.querySelectorAll("button")].find((button) => button.textContent === "try again")?.click();
    await settle();
    expect(part("sentence")?.textContent).toBe("step 12 did it.");
  });

  it("keeps a pane's failure in the pane, until the next step", async () => {
    const guards = model.meta.guards;
    (model.meta as { guards: unknown }).guards = null;
    model.tab.value = "guards";
    await settle();
    expect(part("pane")?.textContent).toContain("This pane cannot be shown here");
    expect(part("position")?.textContent).toBe("step 3 of 13");
    (model.meta as { guards: unknown }).guards = guards;
    run(model, "next");
    await settle();
    expect(part("pane")?.textContent).toContain("The guards that must hold");
  });

  it("shows the program's line first, and the library's below it", async () => {
    const made = meta();
    const library = { code: 1, line: 12 };
    const [broken] = made.breaks;
    if (!broken) throw new Error();
    made.breaks = [{ ...broken, library }];
    made.guards = [{ ...guard(0, ["L['x']"]), library }];
    const said = { id: 0, attempt: 1, reason_id: "marked-size-fixed", message: "It is fixed to 6.", explanation: "So it is.", hints: ["leave it"] };
    made.notices = [{ ...said, step: 4, code: 0, line: 2, library }];
    const check = { version: 1, reused: false, failed: 0, text: "guard 0", seen: "it is 3", place: { code: 0, line: 2 }, library, failures: [] };
    made.calls = [{ id: 0, code: 0, number: 1, checks: [check], outcome: "compiled", version: 2, compilation: null, message: "" }];
    model = new Model(made, store, 0);
    render(<Root model={model} height={null} />, place);
    await settle();
    const below = "outer.py:2 in outerwhich runs, in a library: helper.py:12 in helper";
    model.tab.value = "breaks";
    await settle();
    expect(part("break")?.textContent).toBe("1y = helper(x)The code calls print().outer.py:21");
    expect(part("break-details")?.textContent).toContain(below);
    expect(part("notice-card")?.textContent).toContain(`It is fixed to 6.${below}`);
    expect([...place.querySelectorAll('[role="tab"]')].map((tab) => tab.textContent)).toContain("Breaks2");
    model.tab.value = "guards";
    await settle();
    expect(part("guard")?.textContent).toContain("outer.py:2 → helper.py:12");
    model.tab.value = "calls";
    await settle();
    expect(part("calls")?.textContent).toContain(`guard installed at ${below}`);
  });

  it("says after which line the rest of a function was compiled", async () => {
    const made = meta();
    const [outer] = made.codes;
    if (!outer) throw new Error("no code");
    made.codes = [...made.codes, ...[3, 5].map((line, i) => ({ ...outer, id: made.codes.length + i, name: `\`outer\`, after line ${line}`, kind: "resume", resumes: 0, resumes_at: 1 }))];
    const rests = made.codes.slice(-2);
    made.calls = rests.map(({ id }, i) => ({ id: i, code: id, number: 1, checks: [], outcome: "compiled", version: 1, compilation: null, message: "" }));
    made.compilations = made.compilations.map((one) => ({ ...one, code: rests[0]?.id ?? 0 }));
    model = new Model(made, store, 0);
    render(<Root model={model} height={null} />, place);
    model.tab.value = "calls";
    await settle();
    expect([...place.querySelectorAll("caption")].map((one) => one.textContent)).toEqual(["outer, after line 3 outer.py:1", "outer, after line 5 outer.py:1"]);
    model.tab.value = "timings";
    await settle();
    expect(part("pane")?.textContent).toContain("outer, after line 3, version 1");
    expect(part("frames")?.textContent).toContain("of outer, after line 3");
  });

  it("tells recompilations by cause, and every guard that failed in the matrix behind", async () => {
    const made = meta();
    const failed = (text: string, seen: string) => ({ guard: 0, kind: "CONSTANT", source: "L['n']", text, was: "was 1", seen, remedies: [], place: { code: 0, line: 2 }, library: null });
    const check = { version: 1, reused: false, failed: 0, text: "n == 1", seen: "it is 2", place: null, library: null, failures: [failed("n == 1", "it is 2"), failed("x is None", "it is a tensor")] };
    made.calls = [{ id: 0, code: 0, number: 2, checks: [check], outcome: "compiled", version: 2, compilation: null, message: "" }];
    made.recompilations = [{
      id: 0, code: 0, source: "n", kinds: ["CONSTANT"], text: "`n` changed in 1 call of outer (2)", change: "It was 1 when it was compiled, then 2.", calls: [0], alone: 0, plain: 0,
      place: { code: 0, line: 2 }, library: null, line: "y = helper(x)", guard: 0, step: 4, remedies: ["pass n as a tensor"],
    }];
    model = new Model(made, store, 0);
    render(<Root model={model} height={null} />, place);
    part("tab-recompiles")?.click();
    await settle();
    expect(part("tab-recompiles")?.textContent).toBe("Recompiles1");
    const cause = part("recompilation")?.textContent ?? "";
    for (const said of ["n changed in 1 call of outer (2)", "It was 1", "outer.py:2 in outer", "y = helper(x)", "Trypass n as a tensor"]) expect(cause).toContain(said);
    expect(part("calls")).toBeNull();
    part("show-matrix")?.click();
    await settle();
    expect(part("calls")?.textContent).toContain("expected: x is Nonebut it is a tensor");
    part("recompilation")?.querySelector<HTMLElement>("[data-step='4']")?.click();
    await settle();
    expect(model.position.value).toBe(4);
  });

  it("has the kernel try fixes, and shows what each does", async () => {
    const figures = (breaks: number) => ({ graphs: 2, breaks, compilations: 3, plain: 0 });
    const tried = { name: "replay_prints", diff: "- tw.compile(f)\n+ tw.compile(f, options)", verdict: "removes", text: "It removes the break.", why: "", after: figures(0) };
    const failed = { name: "dynamic", diff: "", verdict: "fails", text: "The calls cannot be repeated with it.", why: "`f` raises `ValueError`.", after: null };
    const fixes = { before: figures(1), problems: [{ kind: "break", number: 0, title: "f.py:2, in f: it prints.", tried: [tried, failed], text: "Removed by replay_prints." }], notes: ["Only the first 32 calls are repeated."] };
    let asked = 0;
    const kernel = Object.assign(new FixedStore(), { fixes: () => { asked++; return asked === 1 ? Promise.reject(new Error("no kernel")) : Promise.resolve({ fixes, done: 1, total: 1, next: null }); } });
    model = new Model(meta(), kernel, 0);
    render(<Root model={model} height={null} />, place);
    part("tab-fixes")?.click();
    await settle();
    part("try-fixes")?.click();
    expect(model.trying.value).toBe("running");
    void model.tryFixes();
    await settle();
    expect(asked).toBe(1);
    expect(part("pane")?.textContent).toContain("no kernel");
    part("try-fixes")?.click();
    await settle();
    expect(part("candidate")?.textContent).toContain("replay_prints: It removes the break.graphs 2breaks 1 → 0compilations 3");
    expect(part("why-not")?.textContent).toBe("f raises ValueError.");
    expect(part("candidate")?.querySelector(".tw-added")?.textContent).toBe("+ tw.compile(f, options)");
    expect(part("fixes-note")?.textContent).toBe("Only the first 32 calls are repeated.");
  });

  it("says where fixes can be tried, in a page without a kernel", async () => {
    part("tab-fixes")?.click();
    await settle();
    expect(part("try-fixes")).toBeNull();
    expect(part("pane")?.textContent).toContain("In a notebook");
  });

  it("compares the engine with torch.compile, part by part, and stops", async () => {
    const row = (kind: string, same: boolean, text: string, more: object) => ({ kind, same, text, place: "", source: "", engine: "", torch: "", step: null, pane: "", item: null, ...more });
    const rows = [row("results", true, "Both are right.", {}), row("breaks", false, "Only torch.compile breaks.", { place: "f.py:2, in f", source: "x.item()", torch: "Why `x`", step: 4 })];
    const found = { headline: "They part.", version: "2.x", figures: [{ name: "graphs", engine: 1, torch: 2 }, { name: "seconds", engine: 0.004, torch: 1.5 }], rows, notes: [] };
    const starts: boolean[] = [];
    const besideTorch = (start: boolean) => {
      starts.push(start);
      return Promise.resolve({ found, done: starts.length, total: 3, next: starts.length < 3 ? "the next" : null });
    };
    model = new Model(meta(), Object.assign(new FixedStore(), { besideTorch }), 0);
    render(<Root model={model} height={null} />, place);
    model.tab.value = "compare";
    await settle();
    part("run-beside")?.click();
    await settle();
    expect(starts).toEqual([true, false, false]);
    expect(part("beside-headline")?.textContent).toBe("They part.");
    expect([...place.querySelectorAll('[data-testid="beside-figure"]')].map((one) => one.textContent)).toEqual(["graphs12", "time of the calls, with compiling4 ms1.5 s"]);
    const parts = [...place.querySelectorAll<HTMLElement>('[data-testid="beside-row"]')];
    expect(parts.map((one) => [one.dataset["same"], one.textContent])).toEqual([["true", "Both are right."], ["false", "f.py:2, in f: Only torch.compile breaks.x.item()Why x"]]);
    parts[1]?.querySelector<HTMLElement>("[data-step]")?.click();
    expect(model.position.value).toBe(4);
    starts.length = 0;
    const running = model.beside.run();
    model.beside.stop();
    await running;
    expect(starts).toEqual([true]);
    await settle();
    expect(part("pane")?.textContent).toContain("Stopped.");
  });

  it("says where the comparison with torch.compile can run, in a page without a kernel", async () => {
    model.tab.value = "compare";
    await settle();
    expect(part("run-beside")).toBeNull();
    expect(part("pane")?.textContent).toContain("In a notebook");
  });

  it("says what a step is about: its line and function, and the instruction on demand", async () => {
    const instr = model.index.instrAt(3);
    const sentence = `${`${instr[INSTR.opname]} ${instr[INSTR.arg]}`.trim()} did it.`;
    store.window = (index) => Promise.resolve({ ...windowOf(4 * index, 4), texts: [sentence], sentence: [0, 0, 0, 0] });
    model = new Model(meta(), store, 3);
    render(<Root model={model} height={null} />, place);
    await settle();
    const lead = part("sentence")?.querySelector<HTMLElement>(".tw-said-line");
    expect(lead?.textContent).toMatch(/^Line \d+ of \w+$/);
    expect(sentence.startsWith(`${lead?.dataset["op"]} `)).toBe(true);
  });

  it("says which cell a step is in, where the cell itself is traced", async () => {
    const instr = model.index.instrAt(3);
    store.window = (index) => Promise.resolve({ ...windowOf(4 * index, 4), texts: [`${`${instr[INSTR.opname]} ${instr[INSTR.arg]}`.trim()} did it.`], sentence: [0, 0, 0, 0] });
    const codes = meta().codes.map((code) => ({ ...code, name: "cell", qualname: "cell", filename: "Cell In[4]" }));
    render(<Root model={new Model({ ...meta(), codes }, store, 3)} height={null} />, place);
    await settle();
    expect(part("sentence")?.textContent).toMatch(/^Cell In\[4\], line \d+ did it\.$/);
    expect(part("frames")?.textContent).toContain("version 1 of Cell In[4]");
  });

  it("names the way that goes no further, and whose code it looked at", () => {
    model.go(12);
    run(model, "nextBreak");
    expect(model.notice.value).toBe("There is no break of your code after this step (j: libraries too).");
    run(model, "mine");
    run(model, "nextGuard");
    expect(model.notice.value).toBe("There is no guard after this step.");
  });

  it("leads from a place without a graph to the graphs there are", async () => {
    const there = meta();
    model = new Model({ ...there, graphs: there.graphs.map((graph) => ({ ...graph, nodes: [] })) }, store, 0);
    model.tab.value = "graph";
    render(<Root model={model} height={null} />, place);
    await settle();
    expect(part("other-graphs")).not.toBeNull();
    expect(part("pane")?.textContent).toContain("No operation was added to a graph here");
  });

  it("folds library frames, and shows the user's line instead", async () => {
    render(null, place);
    model = new Model(libraryMeta(), store, 6);
    render(<Root model={model} height={null} />, place);
    await settle();
    expect(part("library-frames")?.textContent).toBe("1 library frame");
    expect(part("source-current")?.textContent).toContain("y = helper(x)");
    part("library-frames")?.click();
    await settle();
    expect(part("library-frames")).toBeNull();
    expect([...place.querySelectorAll(".tw-frame-name")].map((name) => name.textContent)).toEqual(["outer", "helper"]);
    expect((part("my-code") as HTMLInputElement).checked).toBe(false);
  });

  it("says so where nothing was traced", async () => {
    const empty = { ...meta(), steps: 0, frame: "", instruction: "", frames: [], attempts: [], nodes: [], guards: [], breaks: [], overview: { label: "", headline: "Nothing was traced.", sections: [] } };
    render(<Root model={new Model(empty, store, 0)} height={null} />, place);
    await settle();
    expect(place.textContent).toContain("Nothing was traced.");
  });
});

describe("the theme", () => {
  it("is the notebook's, else the system's", () => {
    const page = document.implementation.createHTMLDocument();
    expect([themeOf(page, true), themeOf(page, false)]).toEqual(["dark", "light"]);
    page.body.className = "vscode-dark";
    expect(themeOf(page, false)).toBe("dark");
    page.body.dataset["jpThemeLight"] = "true";
    expect(themeOf(page, true)).toBe("light");
  });
});

describe("stopping where a condition holds", () => {
  const press = async (key: string): Promise<void> => {
    part("explorer")?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await settle();
  };

  it("says that a page without a kernel cannot, and what it can", async () => {
    await press("w");
    expect(part("no-kernel")?.textContent).toContain("This page has no kernel");
    expect(part("notice")?.textContent).toContain("goes back to the last change of the value that was clicked");
  });

  it("goes to the steps that the kernel found, on and back", async () => {
    const asked: string[] = [];
    const kernel = Object.assign(new FixedStore(), {
      stops: (condition: string) => {
        asked.push(condition);
        return Promise.resolve(condition === "x ==" ? { condition, steps: [], names: false, error: "`x ==` is not a condition." } : { condition, steps: [1, 4, 8, 12], names: false, error: "" });
      },
    });
    render(null, place);
    model = new Model(meta(), kernel, 0);
    render(<Root model={model} height={null} />, place);
    await settle();
    await press("w");
    expect(part("notice")?.textContent).toContain("There is no condition to stop at yet");
    const field = part("stop-text") as HTMLInputElement;
    for (const text of ["reads(x)", "x =="]) {
      field.value = text;
      part("add-stop")?.click();
      await settle();
    }
    expect(asked).toEqual(["reads(x)", "x =="]);
    expect(part("stop-count")?.textContent).toBe("3 steps");
    expect(place.querySelector('[role="alert"]')?.textContent).toBe("x == is not a condition.");
    const seen: (string | null | undefined)[] = [];
    for (const key of ["w", "w", "w", "w", "W"]) {
      await press(key);
      seen.push(part("position")?.textContent, part("notice")?.textContent);
    }
    expect(seen).toEqual(["step 4 of 13", undefined, "step 8 of 13", undefined, "step 12 of 13", undefined, "step 12 of 13", "No condition holds after this step.", "step 8 of 13", undefined]);
  });

  it("shows how far a long search is, and stops it", async () => {
    let going: Going = () => true;
    let answer: (found: Stops) => void = () => {};
    const kernel = Object.assign(new FixedStore(), {
      stops: (_condition: string, each: Going = () => true) => {
        going = each;
        return new Promise<Stops>((done) => (answer = done));
      },
    });
    render(null, place);
    model = new Model(meta(), kernel, 0);
    render(<Root model={model} height={null} />, place);
    model.tab.value = "find";
    const found = (steps: number[]): Stops => ({ condition: "reads(x)", steps, names: false, error: "" });
    model.stopping.add("x is read");
    expect(going({ done: 3, total: 4, unfinished: true })).toBe(true);
    await settle();
    const bar = part("stop")?.querySelector("progress");
    expect([bar?.value, bar?.max, bar?.getAttribute("aria-label")]).toEqual([3, 4, "Searching the recording"]);
    const [before, late] = [going, answer];
    part("stop-search")?.click();
    await settle();
    expect(part("stop")).toBeNull();
    expect(before({ done: 4, total: 4, unfinished: true })).toBe(false);
    model.stopping.add("x is read");
    late(found([1])); // of the search that was stopped
    await settle();
    expect(part("stop-search")).not.toBeNull();
    answer(found([4, 8]));
    await settle();
    expect(part("stop-count")?.textContent).toBe("2 steps");
    await press("w");
    expect(part("position")?.textContent).toBe("step 4 of 13");
  });

  it("leaves variables of libraries out while those are folded", () => {
    const library = new Model(libraryMeta(), store, 0);
    const stop = { text: "x changes", asked: { value: { condition: "changes(x)", steps: [4, 6, 9, 11], names: true, error: "" } } };
    expect(library.stopping.stepsOf(stop)).toEqual([4, 9, 11]);
    run(library, "mine");
    expect(library.stopping.stepsOf(stop)).toEqual([4, 6, 9, 11]);
  });

  it("goes back to the last change of the picked value", async () => {
    await press("r");
    expect(part("notice")?.textContent).toContain("Click a value first");
    (place.querySelector('[data-path="locals:x"] button') as HTMLElement).click();
    await press("r");
    expect(part("notice")?.textContent).toContain("does not change before this step");
  });
});

describe("the list of what was found", () => {
  it("opens with a search, marks what was searched for, and leads there", async () => {
    model.search("helper");
    await settle();
    expect([...place.querySelectorAll('[data-testid="result"]')].map((row) => row.getAttribute("data-kind"))).toEqual(["function", "line", "line"]);
    expect([...place.querySelectorAll("mark")].map((mark) => mark.textContent)).toEqual(["helper", "helper", "helper"]);
    (place.querySelectorAll('[data-testid="result"]')[2] as HTMLElement).click();
    await settle();
    expect(part("position")?.textContent).toBe("step 6 of 13");
    (place.querySelectorAll('[data-testid="result"]')[2] as HTMLElement).click();
    await settle();
    expect(part("position")?.textContent).toBe("step 9 of 13");
  });
});

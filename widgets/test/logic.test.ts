import { describe, expect, it } from "vitest";
import { breakPlaces, brokenLines } from "../src/logic/breaks";
import { callTables } from "../src/logic/calls";
import { cellRows, localRows, stackRows } from "../src/logic/change";
import { colourLines, markColumns } from "../src/logic/colour";
import { decodeU32, unitColumn } from "../src/logic/columns";
import { find, matchText, nextMatch } from "../src/logic/find";
import { folded, foldName, folds, plain } from "../src/logic/folds";
import { currentNode, dotText, neighbourhood, readLayout, runs, shapeText } from "../src/logic/graph";
import { ALL, failedGuards, guardTree, listed, outcomes, treeRows } from "../src/logic/guards";
import { commandFor, KEYS } from "../src/logic/keys";
import { changedBetween, snapshotAt } from "../src/logic/snapshots";
import { picture } from "../src/logic/timeline";
import { TraceIndex } from "../src/logic/trace";
import { VisibleSteps } from "../src/logic/visible";
import { type StepView, stepOf } from "../src/logic/window";
import type { Meta, Snapshot } from "../src/schema";
import { fake, ground, guard, meta, node, snapshot, u32 } from "./fixture";

describe("columns", () => {
  it("decodes little-endian numbers", () => {
    expect([...decodeU32("AQAAAAACAAD/////")]).toEqual([1, 512, 0xffffffff]);
    expect([...decodeU32("")]).toEqual([]);
    expect(() => decodeU32("AQAA")).toThrow("cut short");
  });

  it("turns UTF-8 columns into UTF-16 ones", () => {
    const line = "é = '𝛼' + b";
    const bytes = new TextEncoder().encode(line.slice(0, line.indexOf("b"))).length;
    expect(unitColumn(line, bytes)).toBe(line.indexOf("b"));
    expect(unitColumn("abc", 99)).toBe(3);
  });

  it("refuses columns of the wrong length", () => {
    expect(() => new TraceIndex({ ...meta(), steps: 14 })).toThrow("one entry a step");
  });
});

describe("what stands at a step", () => {
  const index = new TraceIndex(meta());

  it("is the chain of calls, each where it calls", () => {
    expect(index.chain(9).map(({ code, step, line }) => [code.name, step, line])).toEqual([["outer", 4, 2], ["helper", 7, 12], ["helper", 9, 12]]);
    expect(index.chain(0).map(({ code }) => code.name)).toEqual(["outer"]);
  });

  it("is a line, also for an instruction without one", () => {
    const without = meta();
    const instr = without.codes[1]?.instructions[2];
    if (!instr) throw new Error();
    instr[4] = null;
    expect(new TraceIndex(without).lineAt(7)).toBe(12);
  });

  it("is its attempt, and what it added", () => {
    expect(index.attemptAt(1).id).toBe(0);
    expect(index.nodes.get(6).map(({ id }) => id)).toEqual([0]);
    expect(index.breaks.get(12).map(({ id }) => id)).toEqual([0]);
    expect(index.breaks.get(1)).toEqual([]);
  });
});

describe("snapshots", () => {
  const view = { snapshots: [snapshot(-1, "a"), snapshot(4, "b"), snapshot(9, "c")], made_by: null, later: [], later_steps: [], changed: [] };

  it("are those last made at or before a step", () => {
    expect([-1, 3, 4, 8, 9, 100].map((step) => (snapshotAt(view, step) as Snapshot).text)).toEqual(["a", "a", "b", "b", "c", "c"]);
    expect(snapshotAt({ ...view, snapshots: [snapshot(5, "x")] }, 2)).toEqual(snapshot(5, "x"));
    expect(snapshotAt({ ...view, snapshots: [] }, 2)).toBeNull();
  });

  it("tell of a change, but not of the first sight", () => {
    expect(changedBetween(view, 4, 4)).toBe(true);
    expect(changedBetween(view, 5, 8)).toBe(false);
    expect(changedBetween(view, 5, 9)).toBe(true);
    expect(changedBetween({ ...view, snapshots: [snapshot(4, "new")] }, 4, 4)).toBe(false);
  });

  it("of a long history are elsewhere, by number, but the first", () => {
    const long = { ...view, snapshots: [snapshot(-1, "a")], later: [7, 9], later_steps: [4, 9] };
    expect([3, 4, 8, 9, 100].map((step) => snapshotAt(long, step))).toEqual([snapshot(-1, "a"), 7, 7, 9, 9]);
    expect([[3, 3], [3, 4], [5, 8], [5, 9]].map(([step, until]) => changedBetween(long, step ?? 0, until ?? 0))).toEqual([false, true, false, true]);
  });
});

describe("a step of a window", () => {
  it("shares the state after it with the step that finds it so", () => {
    const window = {
      first: 8, before: [[[1], [2], []], [[3], [2], []], [[1, 4], [2], []]] as StepView["before"][], after: [2, [[5], [2], []] as StepView["before"], null],
      inlined: [1, 0, 0], texts: ["called", "returned"], sentence: [0, 1, 1], handlers: { 1: ["of_it"] },
    };
    expect(stepOf(window, 8)).toEqual({ before: [[1], [2], []], after: [[1, 4], [2], []], until: 9, sentence: "called", handlers: [] });
    expect(stepOf(window, 9)).toEqual({ before: [[3], [2], []], after: [[5], [2], []], until: 9, sentence: "returned", handlers: ["of_it"] });
    expect(stepOf(window, 10)?.after).toBeNull();
    expect(stepOf(window, 11)).toBeNull();
  });
});

describe("what a step did", () => {
  const view: StepView = { before: [[1, 2, 3], [7, null], [null]], after: [[1, 4], [7, 9], [5]], until: 3, sentence: "", handlers: [] };

  it("is shown with the top of the stack first", () => {
    expect(stackRows(view).map(({ tracker, fate }) => [tracker, fate])).toEqual([[4, "pushed"], [3, "popped"], [2, "popped"], [1, "kept"]]);
    expect(stackRows({ ...view, after: null }).every(({ fate }) => fate === "kept")).toBe(true);
  });

  it("is shown by name for locals and cells", () => {
    const [code] = meta().codes;
    if (!code) throw new Error();
    expect(localRows(code, view)).toEqual([
      { name: "x", before: 7, after: 7, changed: false },
      { name: "y", before: null, after: 9, changed: true },
    ]);
    expect(cellRows(code, view)).toEqual([{ name: "c", before: null, after: 5, changed: true }]);
    expect(cellRows(code, { ...view, after: null })).toEqual([]);
  });
});

describe("finding", () => {
  it("looks in instructions, source lines, functions, nodes, guards and breaks of visible steps", () => {
    expect([...find(ground(), "binary_op").steps]).toEqual([6, 9]);
    expect([...find(ground(), "RETURN y").steps]).toEqual([11]);
    expect([...find(ground(), "add_1").steps]).toEqual([9]);
    expect([...find(ground(), "code calls").steps]).toEqual([12]);
    expect([...find(ground(), "guard 0").steps]).toEqual([4]);
    expect([...find(ground(true), "load_fast x").steps]).toEqual([1, 3]);
    expect([...find(ground(), "nowhere").steps]).toEqual([]);
  });

  it("goes round at both ends", () => {
    const found = Uint32Array.from([3, 6, 9]);
    expect([nextMatch(found, 3, "next"), nextMatch(found, 9, "next"), nextMatch(found, 3, "previous"), nextMatch(found, 7, "previous")]).toEqual([6, 3, 9, 6]);
    expect(nextMatch(new Uint32Array(), 3, "next")).toBeNull();
    expect([matchText(found, 6), matchText(found, 7), matchText(new Uint32Array(), 7)]).toEqual(["2 of 3", "3 found", "none"]);
  });
});

describe("the timeline", () => {
  it("keeps the deepest step and every mark of each bucket", () => {
    const { index, visible } = ground();
    const drawn = picture(index, visible, 11);
    expect([...drawn.depth]).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 1, 0, 0]);
    expect(drawn.deepest).toBe(2);
    expect([...drawn.marks.node]).toEqual([0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
    expect([...drawn.marks.break]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    expect([...drawn.marks.restart]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect([...picture(index, visible, 2).depth]).toEqual([1, 2]);
    expect(picture(index, visible, 5000).depth.length).toBe(11);
  });

  it("is made of a million steps in well under a second", () => {
    const steps = 1_000_000;
    const big: Meta = { ...meta(), steps, frame: u32(new Array<number>(steps).fill(1)), instruction: u32(new Array<number>(steps).fill(1)), attempts: [], breaks: [] };
    const index = new TraceIndex(big);
    const visible = VisibleSteps.of(big, false);
    const start = performance.now();
    expect(picture(index, visible, 1000).depth.length).toBe(1000);
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe("keys", () => {
  it("belong to one command each", () => {
    expect(new Set(KEYS.map(({ key }) => key)).size).toBe(KEYS.length);
  });

  it("leave text fields and the browser's own shortcuts alone", () => {
    const press = (key: string, more: object = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
    expect(commandFor(press("ArrowRight"), false)).toBe("next");
    expect(commandFor(press("n"), true)).toBeNull();
    expect(commandFor(press("Escape"), true)).toBe("close");
    expect(commandFor(press("n", { ctrlKey: true }), false)).toBeNull();
    expect(commandFor(press("q"), false)).toBeNull();
    expect(commandFor(press("ArrowRight", { altKey: true }), false)).toBe("forward");
  });
});

describe("colours", () => {
  const text = (lines: ReturnType<typeof colourLines>): string => lines.map((line) => line.map((piece) => piece.text).join("")).join("\n");
  const of = (source: string) => Object.fromEntries(colourLines(source).flat().map((piece) => [piece.text, piece.colour]));

  it("lose nothing, whatever the text", () => {
    for (const source of ["", "\n\n", "x = '''a\nb'''  # c", "'unfinished\nnext", "é𝛼 = <script>alert(1)</script>", 'f"{x!r}" if x else r"\\"', "\tdef f(): ..."])
      expect(text(colourLines(source))).toBe(source);
  });

  it("tell words from strings and comments", () => {
    expect(of("def f(if_): return 'if' # if")).toMatchObject({ def: "keyword", f: "name", return: "keyword", "'if'": "string", "# if": "comment" });
    expect(of("x1 = 0x1F + 2.5e3")).toMatchObject({ "0x1F": "number", "2.5e3": "number" });
    expect(colourLines('"""a\nif b"""')[1]).toEqual([{ text: 'if b"""', colour: "string" }]);
  });

  it("mark columns across pieces", () => {
    const pieces = markColumns(colourLines("y = f(x)")[0] ?? [], 4, 8);
    expect(pieces.filter((piece) => piece.marked).map((piece) => piece.text).join("")).toBe("f(x)");
    expect(pieces.map((piece) => piece.text).join("")).toBe("y = f(x)");
    expect(markColumns(colourLines("ab")[0] ?? [], 5, 9).some((piece) => piece.marked)).toBe(false);
  });
});

describe("the graph", () => {
  const chain = [node(0, 1), node(1, 2, [0]), node(2, 3, [1]), node(3, 4, [2]), node(4, 5, [])];

  it("is told to Graphviz by numbers alone", () => {
    const evil = { ...node(7, 1), name: '"];evil[label="' };
    expect(dotText(plain([evil, node(8, 2, [7, 99])]))).not.toContain("evil");
    expect(dotText(plain([evil, node(8, 2, [7, 99])]))).toContain("7->8;");
    expect(dotText(plain([node(8, 2, [99])]))).not.toContain("99");
  });

  it("is read back in points, y downwards", () => {
    const layout = readLayout(JSON.stringify({
      bb: "0,0,144,288",
      objects: [{ name: "cluster_3", bb: "8,18,136,200" }, { name: "7", pos: "72,252", width: "1", height: "0.5" }, { name: "8", pos: "72,36", width: "1", height: "0.5" }],
      edges: [{ tail: 1, head: 2, pos: "e,72,54 72,216 72,144 72,72 72,60" }],
    }));
    expect(layout.boxes[0]).toEqual({ node: 7, x: 72, y: 36, width: 72, height: 36 });
    expect(layout.frames).toEqual([{ node: 3, x: 72, y: 179, width: 128, height: 182 }]);
    expect(layout.edges).toEqual([{ from: 7, to: 8, path: "M72.0,72.0C72.0,144.0 72.0,216.0 72.0,228.0" }]);
    expect([layout.width, layout.height]).toEqual([144, 288]);
  });

  it("folds to the nearest nodes, in graph order", () => {
    expect(neighbourhood(chain, 2, 3).map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(neighbourhood(chain, 4, 3).map(({ id }) => id)).toEqual([4]);
    expect(neighbourhood(chain, 99, 3)).toEqual([]);
    const hub = [node(0, 0), ...Array.from({ length: 50 }, (_, i) => node(i + 1, i + 1, [0]))];
    expect(neighbourhood(hub, 30, 20).map(({ id }) => id)).toEqual([0, 27, 28, 29, 30, 31, 32]);
  });

  it("knows the newest node of a step", () => {
    expect(currentNode(chain, 3)?.id).toBe(2);
    expect(currentNode(chain, 0)?.id).toBe(0);
    expect(currentNode([], 0)).toBeNull();
  });

  it("groups runs and writes shapes shortly", () => {
    expect(runs(chain, ({ id }) => (id < 2 ? "a" : "b")).map((run) => [run.key, run.nodes.length])).toEqual([["a", 2], ["b", 3]]);
    expect(shapeText(fake)).toBe("f32[4, s0]");
    expect(shapeText({ ...fake, dtype: "", type: "SymInt" })).toBe("SymInt");
  });
});

describe("guards", () => {
  it("on the settings of torch come last, in a group of their own", () => {
    const setting = { ...guard(0, ["torch.is_grad_enabled()"]), kind: "GLOBAL_STATE" };
    const tree = guardTree([setting, guard(1, ["L['x']"])]);
    expect(tree.map((branch) => branch.label)).toEqual(["x", "settings of torch, and its modules"]);
    expect(treeRows(tree, new Set()).map((row) => ("guard" in row ? row.guard.id : row.branch.label))).toEqual([1, "settings of torch, and its modules", 0]);
  });

  it("are told apart by exact source where the program's names are alike", () => {
    const tree = guardTree([guard(0, ["L['x']"]), guard(1, ["G['x']"])]);
    expect(tree.map((branch) => [branch.name, branch.guards.map(({ id }) => id)])).toEqual([["x", [0]], ["x", [1]]]);
  });

  it("are labelled with what a part's name adds, or with a phrase as a whole", () => {
    const cell = { ...guard(0, ["L['f']", "L['f'].__closure__[0]"]), names: ["f", "`count` in `f`"] };
    const shaped = { ...guard(1, ["L['f']", "L['f2']"]), names: ["f", "f2"] };
    expect(guardTree([cell, shaped])[0]?.branches.map((branch) => branch.label)).toEqual(["`count` in `f`", "f2"]);
  });

  it("hang on the tree of their sources", () => {
    const tree = guardTree([guard(0, ["L['x']", "L['x'].w"]), guard(1, ["L['x']"]), guard(2, [""]), guard(3, ["L['x']", "L['x'].w"])]);
    expect(tree.map((branch) => branch.label)).toEqual(["x", "global state"]);
    expect(tree.map((branch) => branch.source)).toEqual(["L['x']", ""]);
    expect(tree[0]?.branches.map((branch) => [branch.label, branch.guards.map(({ id }) => id)])).toEqual([[".w", [0, 3]]]);
    // A source with one guard has no row of its own: the guard's text names it.
    expect(treeRows(tree, new Set()).map((row) => row.depth)).toEqual([0, 1, 1, 2, 2, 0]);
    expect(treeRows(tree, new Set(["L['x']"]))).toHaveLength(2);
  });

  it("know how later checks went", () => {
    const check = { version: 1, reused: false, failed: 0, text: "t", seen: "24", failures: [] };
    const call = { id: 0, code: 0, number: 2, outcome: "compiled", version: 2, compilation: null, message: "" };
    const calls = [
      { ...call, checks: [check] },
      { ...call, id: 1, checks: [{ ...check, reused: true, failed: null, seen: "" }] },
      { ...call, id: 2, checks: [{ ...check, failed: 9 }, { ...check, version: 2 }] },
      { ...call, id: 3, code: 1, checks: [check] },
    ];
    expect(outcomes({ ...meta(), calls }, guard(0, []))).toEqual([{ call: 0, held: false, seen: "24" }, { call: 1, held: true, seen: "" }]);
  });
});

describe("a list of guards", () => {
  const size = guard(0, ["L['x']", "L['x'].size(0)"]);
  const inLibrary = { ...guard(1, ["L['self']"]), library: { code: 1, line: 12 } };
  const isMine = (code: number): boolean => code === 0;

  it("keeps those that my code asks for, that failed, or that are on a value or its parts", () => {
    const kept = (filter: Partial<typeof ALL>): number[] => [size, inLibrary, { ...guard(2, [""]), kind: "GLOBAL_STATE" }].filter((one) => listed(one, { ...ALL, ...filter }, isMine, new Set([1]))).map(({ id }) => id);
    expect(kept({})).toEqual([0, 1, 2]);
    expect(kept({ mine: true })).toEqual([0]);
    expect(kept({ failed: true })).toEqual([1]);
    expect(kept({ source: "L['x']" })).toEqual([0]);
    expect(kept({ source: "L['self']", mine: true })).toEqual([]);
  });

  it("knows those that failed beside the first one", () => {
    const failure = { guard: 4, kind: "", source: "", text: "", was: "", seen: "it is 3", remedies: [], place: null, library: null };
    const check = { version: 1, reused: false, failed: 2, text: "t", seen: "24", place: null, library: null, failures: [failure, { ...failure, guard: null }] };
    const calls = [{ id: 0, code: 0, number: 2, outcome: "compiled", version: 2, compilation: null, message: "", reason_id: "", checks: [check] }];
    expect([...failedGuards({ calls })]).toEqual([2, 4]);
    expect(outcomes({ ...meta(), calls }, { ...guard(4, []), attempt: 1 })).toEqual([{ call: 0, held: false, seen: "it is 3" }]);
  });
});

describe("breaks", () => {
  it("are put together by the line that causes them, with its own function first", () => {
    const [one] = meta().breaks;
    if (!one) throw new Error();
    const breaks = [
      { ...one, id: 0, code: 1, root_code: 0 },
      { ...one, id: 1, code: 1, root_code: 1 },
      { ...one, id: 2, code: 1, line: 9, root_code: 0 },
    ];
    expect(breakPlaces(breaks, []).map(({ main, others }) => [main.id, others.map(({ id }) => id)])).toEqual([[1, [0]], [2, []]]);
  });

  it("count a resume function as the function it goes on with", () => {
    const { breaks: [one], codes } = meta();
    if (!one || !codes[0]) throw new Error();
    const resume = { ...codes[0], id: codes.length, kind: "resume", resumes: 0, resumes_at: 1 };
    const breaks = [{ ...one, id: 0 }, { ...one, id: 1, code: resume.id, root_code: resume.id }];
    expect(breakPlaces(breaks, [...codes, resume]).map(({ main, others }) => [main.id, others.map(({ id }) => id)])).toEqual([[0, [1]]]);
    expect([...brokenLines({ ...meta(), breaks, codes: [...codes, resume] }, resume.id)]).toEqual([2]);
  });

  it("are one place for a line and a reason, whatever the message names", () => {
    const [one] = meta().breaks;
    if (!one) throw new Error();
    const breaks = [{ ...one, id: 0, message: "f32[2]" }, { ...one, id: 1, message: "f64[2]" }, { ...one, id: 2, reason_id: "tensor-branch" }];
    expect(breakPlaces(breaks, []).map(({ main, others }) => [main.id, others.map(({ id }) => id)])).toEqual([[0, [1]], [2, []]]);
  });

  it("of a library's function count to the line of the program that leads there", () => {
    const [one] = meta().breaks;
    if (!one) throw new Error();
    const library = { code: 1, line: 12 };
    const own = { ...one, id: 0, ...library, root_code: 1 };
    const breaks = [own, { ...one, id: 1, library }, { ...one, id: 2, line: 3, library }];
    expect(breakPlaces(breaks, []).map(({ main, others }) => [main.id, others.map(({ id }) => id)])).toEqual([[1, [0]], [2, []]]);
    expect([...brokenLines({ ...meta(), breaks }, 1)]).toEqual([12]);
  });
});

describe("calls", () => {
  it("are a table of calls and versions", () => {
    const call = { code: 0, compilation: null, message: "" };
    const failed = { version: 1, reused: false, failed: 0, text: "size == 16", seen: "24" };
    const [table] = callTables({
      compilations: [],
      calls: [
        { ...call, id: 0, number: 1, checks: [], outcome: "compiled", version: 1 },
        { ...call, id: 1, number: 2, checks: [failed], outcome: "compiled", version: 2 },
        { ...call, id: 2, number: 3, checks: [{ ...failed, version: 2, reused: true, failed: null }], outcome: "reused", version: 2 },
      ],
    });
    expect(table?.versions).toEqual([1, 2]);
    expect(table?.rows.map((row) => row.cells.map((cell) => cell.what))).toEqual([["compiled", "later"], ["failed", "compiled"], ["untried", "reused"]]);
  });

  it("say in which order versions were tried", () => {
    const call = { code: 0, compilation: null, message: "", outcome: "reused" };
    const failed = { version: 2, reused: false, failed: 0, text: "size == 16", seen: "it is 24" };
    const [table] = callTables({
      compilations: [],
      calls: [{ ...call, id: 0, number: 1, checks: [failed, { ...failed, version: 1, reused: true, failed: null }], version: 1 }],
    });
    expect(table?.rows[0]?.cells).toEqual([{ what: "reused", order: 2 }, { what: "failed", check: failed, order: 1 }]);
  });
});

describe("folding by module", () => {
  const at = (id: number, inputs: number[], ...modules: string[]) => ({ ...node(id, id, inputs), modules });
  const model = "L['self']", block = `${model}.blocks[0]`, up = `${block}.up`;
  const nodes = [at(0, [], model), at(1, [], model, block, up), at(2, [0, 1], model, block, up), at(3, [2], model, block), at(4, [3, 0], model)];

  it("makes one box of what is in a module of the model", () => {
    const items = folded(nodes, new Set());
    expect(items.map((item) => [item.lines[0], item.nodes.map(({ id }) => id)])).toEqual([[nodes[0]?.name, [0]], ["blocks[0]", [1, 2, 3]], [nodes[4]?.name, [4]]]);
    expect(items[1]?.lines[1]).toBe("3 nodes");
    expect(items[1]?.inputs).toEqual([0]);
    expect(items[2]?.inputs).toEqual([items[1]?.id, 0]);
  });

  it("opens a module to its nodes and the modules inside it", () => {
    const open = new Set(folds(nodes[3]!));
    const items = folded(nodes, open);
    expect(items.map((item) => item.nodes.map(({ id }) => id))).toEqual([[0], [1, 2], [3], [4]]);
    expect(items[1]?.lines).toEqual(["up", "2 nodes"]);
    expect(folded(nodes, new Set(folds(nodes[2]!))).map((item) => item.fold)).toEqual([null, null, null, null, null]);
  });

  it("names modules from the one around them", () => {
    expect(folds(nodes[2]!).map(foldName)).toEqual([model, "blocks[0]", "up"]);
    expect(foldName(folds(at(5, [], model, "G['other']"))[1]!)).toBe("G['other']");
  });
});

// Finding, and the changes of values.
import { describe, expect, it } from "vitest";
import { changeOf } from "../src/logic/changes";
import { find, marked } from "../src/logic/find";
import { TraceIndex } from "../src/logic/trace";
import { VisibleSteps } from "../src/logic/visible";
import type { TrackerView } from "../src/schema";
import { code, ground, libraryGround, meta, u32 } from "./fixture";

describe("a list of what was found", () => {
  const list = (text: string, at = ground()) => find(at, text).matches.map(({ kind, text: shown, steps }) => [kind, shown, steps]);

  it("is grouped by function, line, node, guard and break", () => {
    expect(list("helper")).toEqual([
      ["function", "helper", [5, 8]],
      ["line", "y = helper(x)", [3]],
      ["line", "return helper(b + 1)", [6, 9]],
    ]);
    expect(list("add_")).toEqual([["node", "add_0", [6]], ["node", "add_1", [9]]]);
    expect(list("guard")).toEqual([["guard", "guard 0", [4]]]);
    expect(list("calls print")).toEqual([["break", "The code calls print().", [12]]]);
    expect(list("nowhere")).toEqual([]);
  });

  it("has a line once for each time it runs, not for each of its instructions", () => {
    // Line 12 runs at steps 6, 7 and 10 (the call in it returns there), and at 9.
    expect([...find(ground(), "b + 1").steps]).toEqual([6, 9]);
  });

  it("stops once where a node and its line hold the text", () => {
    const made = meta();
    for (const one of made.nodes) one.name = "b + 1";
    const both = { index: new TraceIndex(made), visible: VisibleSteps.of(made, false), mine: true };
    expect([...find(both, "b + 1").steps]).toEqual([6, 9]);
  });

  it("says which instruction holds the text, where the line does not", () => {
    expect(find(ground(), "binary_op").matches.map(({ text, note }) => [text, note])).toEqual([["return helper(b + 1)", "BINARY_OP +"]]);
  });

  it("has the user's own code first", () => {
    expect(find(libraryGround(true), "return").matches.map(({ text, mine }) => [text, mine])).toEqual([
      ["return a + 1", true], ["return y", true], ["return helper(b + 1)", false],
    ]);
  });

  it("leaves attempts out that are not shown", () => {
    expect(list("load_fast x")).toEqual([["line", "y = helper(x)", [3]]]);
    expect(list("load_fast x", ground(true))).toEqual([["line", "y = helper(x)", [1, 3]]]);
  });

  it("takes a moment at 250,000 steps", () => {
    const steps = 250_000;
    const made = meta();
    const round = [0, 1, 2, 3];
    Object.assign(made, {
      steps,
      frame: u32(Array.from({ length: steps }, () => 0)),
      instruction: u32(Array.from({ length: steps }, (_, i) => round[i % 4] as number)),
      codes: [code(0, "outer", 1, "def outer(x):\n    y = helper(x)\n    return y\n", made.codes[0]?.instructions ?? [])],
      frames: [{ ...made.frames[0], last_step: steps - 1, end_step: steps - 1 }],
      attempts: [{ ...made.attempts[1], id: 0, first_step: 0, last_step: steps - 1 }],
      nodes: [], guards: [], breaks: [],
    });
    const long = { index: new TraceIndex(made), visible: VisibleSteps.of(made, false), mine: true };
    const times = [0, 1, 2].map(() => {
      const begun = performance.now();
      expect(find(long, "helper").steps).toHaveLength(steps / 4);
      return performance.now() - begun;
    });
    expect(Math.min(...times), "10 times what it takes").toBeLessThan(300);
  });
});

describe("marking", () => {
  it("shows what was searched for, as it is written", () => {
    expect(marked("Relu = relu(x)", "relu")).toEqual(["", "Relu", " = ", "relu", "(x)"]);
    expect(marked("none here", "relu")).toEqual(["none here"]);
    expect(marked("text", "")).toEqual(["text"]);
  });
});

describe("the last change of a value", () => {
  const made = meta();
  const outer = made.codes[0];
  if (outer) outer.instructions = outer.instructions.map((instr, i) => (i === 2 || i === 3 ? [instr[0], "STORE_FAST", "STORE_FAST", "y", ...instr.slice(4)] as typeof instr : instr));
  const index = new TraceIndex(made);
  const view = (changed: number[], made_by: number | null = null): TrackerView => ({ snapshots: [], made_by, later: [], later_steps: [], changed });

  it("is where the variable was bound, in its own function", () => {
    const y = { frame: 1, name: "y" };
    expect(changeOf(index, y, null, 12, "previous")).toBe(11);
    expect(changeOf(index, y, null, 11, "previous")).toBe(4);
    expect(changeOf(index, y, null, 4, "previous")).toBeNull();
    expect(changeOf(index, y, null, 3, "next")).toBe(4);
    expect(changeOf(index, { frame: 1, name: "x" }, null, 12, "previous")).toBeNull();
    expect(changeOf(index, { frame: 2, name: "y" }, null, 10, "previous")).toBeNull();
  });

  it("is where the value was changed in place, by any function", () => {
    const y = { frame: 1, name: "y" };
    expect(changeOf(index, y, view([6, 9]), 11, "previous")).toBe(9);
    expect(changeOf(index, y, view([6, 9]), 6, "previous")).toBe(4);
    expect(changeOf(index, y, view([6, 9]), 4, "next")).toBe(6);
    expect(changeOf(index, y, view([6, 9]), 9, "next")).toBe(11);
  });

  it("of a value by itself is its creation at last", () => {
    const alone = { frame: 1, name: null };
    expect(changeOf(index, alone, view([9], 5), 12, "previous")).toBe(9);
    expect(changeOf(index, alone, view([9], 5), 9, "previous")).toBe(5);
    expect(changeOf(index, alone, view([9], 5), 5, "previous")).toBeNull();
    expect(changeOf(index, alone, view([9], null), 9, "previous")).toBeNull();
  });
});

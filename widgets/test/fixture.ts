// A small recording written by hand.
//
//  step  attempt  frame  line  instruction            depth
//   0    0        0      1     RESUME                 0     attempt 0 is given up
//   1    0        0      2     LOAD_FAST x            0
//   2    1        1      1     RESUME                 0
//   3    1        1      2     LOAD_FAST x            0
//   4    1        1      2     CALL      -> helper    0     guard 0
//   5    1        2      11    LOAD_FAST a            1
//   6    1        2      12    BINARY_OP -> node      1     node 0
//   7    1        2      12    CALL      -> helper    1
//   8    1        3      11    LOAD_FAST a            2
//   9    1        3      12    BINARY_OP -> node      2     node 1
//  10    1        2      12    RETURN_VALUE           1
//  11    1        1      3     LOAD_FAST y            0
//  12    1        1      3     RETURN_VALUE           0     break 0
import type { Ground } from "../src/logic/navigate";
import { TraceIndex } from "../src/logic/trace";
import { VisibleSteps } from "../src/logic/visible";
import type { Code, FakeMeta, Frame, Guard, Instr, Meta, Node, Snapshot, State, Window } from "../src/schema";

export const u32 = (numbers: number[]): string => Buffer.from(Uint32Array.from(numbers).buffer).toString("base64");

const instr = (offset: number, opname: string, arg: string, line: number): Instr => [
  offset, opname, opname, arg, line, line, 4, 9, null, null,
];

/** A source as the program writes it. */
const plain = (source: string): string => source.replace(/^[LG]\['(\w+)'\]/, "$1");

export const code = (id: number, name: string, first: number, source: string, instructions: Instr[]): Code => ({
  id, name, qualname: name, filename: `/home/user/${name}.py`, first_line: first, source,
  locals: ["x", "y"], cells: ["c"], instructions, kind: "user", resumes: null, resumes_at: null, owner: "user",
});

const frame = (id: number, ofCode: number, attempt: number, parent: number | null, call: number | null, depth: number, first: number, last: number, end: number): Frame => ({
  id, code: ofCode, attempt, parent, call_step: call, depth, first_step: first, last_step: last, end_step: end, suspended: false,
});

export const fake: FakeMeta = {
  type: "Tensor", dtype: "torch.float32", shape: ["4", "s0"], stride: ["s0", "1"], device: "cpu", requires_grad: false, hints: { s0: "8" },
};

export const node = (id: number, step: number | null, inputs: number[] = []): Node => ({
  id, graph: 1, name: `add_${id}`, op: "call_function", target: "operator.add", args: "x, 1", inputs, step,
  after: step ?? 0, source: null, label: "", fakes: [fake], live: true, modules: [], module_frames: [],
});

export const guard = (id: number, path: string[], step: number | null = 4): Guard => ({
  id, attempt: 1, kind: "type", source: path.at(-1) ?? "", path, names: path.map(plain), text: `guard ${id}`, step, code: 0, line: 2, library: null,
});

export const snapshot = (step: number, text: string): Snapshot => ({
  tracker: 0, step, kind: "constant", cls: "ConstantVariable", py_type: "int", text, source: null, name: "", node: null,
  fake: null, parts: [], more: 0, guards: [],
});

/** Steps without values of their own; each is told by its number. */
export const windowOf = (first: number, size: number, what = ""): Window => {
  const all = Array.from({ length: size }, (_, at) => at);
  return {
    first, before: all.map((): State => [[0], [1, null], [null]]), after: all.map(() => null), inlined: all.map(() => 0),
    texts: all.map((at) => `step ${first + at}${what}.`), sentence: all, handlers: {},
  };
};

export const overview: Meta["overview"] = {
  label: "outer(x)", headline: "1 graph, breaks at 1 place, no recompilations.",
  sections: [
    { name: "breaks", title: "Breaks", rows: [{ text: "The code calls `print()`.", place: "outer.py:2, in outer", source: "y = helper(x)", notes: ["Try: do not"], step: 12, pane: "breaks", item: 0 }] },
    { name: "time", title: "Time", rows: [{ text: "tracing frames: 1 s of 1 s (100 %).", place: "", source: "", notes: [], step: null, pane: "timings", item: null }] },
  ],
};

export function meta(): Meta {
  return {
    version: 1, label: "outer(x)", overview, steps: 13, window: 4, chunk: 2, later: 2, trackers: 3,
    frame: u32([0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 2, 1, 1]),
    instruction: u32([0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 3, 3, 4]),
    begins: u32([1, 3, 5, 8]),
    codes: [
      code(0, "outer", 1, "def outer(x):\n    y = helper(x)\n    return y\n", [
        instr(0, "RESUME", "", 1), instr(2, "LOAD_FAST", "x", 2), instr(4, "CALL", "1", 2), instr(6, "LOAD_FAST", "y", 3), instr(8, "RETURN_VALUE", "", 3),
      ]),
      code(1, "helper", 10, "def helper(a):\n    b = a\n    return helper(b + 1)\n", [
        instr(0, "LOAD_FAST", "a", 11), instr(2, "BINARY_OP", "+", 12), instr(4, "CALL", "1", 12), instr(6, "RETURN_VALUE", "", 12),
      ]),
    ],
    frames: [
      frame(0, 0, 0, null, null, 0, 0, 1, 1),
      frame(1, 0, 1, null, null, 0, 2, 12, 12),
      frame(2, 1, 1, 1, 4, 1, 5, 10, 10),
      frame(3, 1, 1, 2, 7, 2, 8, 9, 9),
    ],
    attempts: [
      { id: 0, compilation: 0, number: 1, first_step: 0, last_step: 1, outcome: "restarted", message: "the graph breaks" },
      { id: 1, compilation: 0, number: 2, first_step: 2, last_step: 12, outcome: "compiled", message: "" },
    ],
    compilations: [{ id: 0, code: 0, version: 1, attempts: [0, 1], outcome: "compiled", graph: 1, generated: null, seconds: 0.5, during_step: null, callers: [] }],
    graphs: [
      { id: 0, attempt: 0, name: "graph_0", nodes: [], code: "", body: null },
      { id: 1, attempt: 1, name: "graph_1", nodes: [0, 1], code: "", body: null },
    ],
    nodes: [node(0, 6), node(1, 9, [0])],
    guards: [guard(0, ["L['x']"])],
    breaks: [{
      id: 0, attempt: 0, reason_id: "print", message: "The code calls print().", explanation: "", hints: ["do not"], step: 1, code: 0, line: 2,
      root_code: 0, root_line: 2, action: "went on", resumes: [], final_step: 12, library: null,
    }],
    calls: [], symbols: [], side_effects: [], generated: [], faults: [], raised: [], timings: [], notices: [], lost: [], bodies: [], recompilations: [], dispatcher: { runs: [], steps: [], nodes: [], stacks: [], fakes: [] }, story: [], lowered: [],
  };
}

export const ground = (failed = false): Ground => ({ index: new TraceIndex(meta()), visible: VisibleSteps.of(meta(), failed), mine: true });

/** With `helper` in an installed package, which calls `outer`'s file back at its deepest. */
export function libraryMeta(): Meta {
  const made = meta();
  const [, helper] = made.codes;
  if (helper) Object.assign(helper, { owner: "package", filename: "/site/lib/helper.py" });
  made.codes.push(code(2, "back", 20, "def back(a):\n    return a + 1\n", [instr(0, "LOAD_FAST", "a", 21), instr(2, "BINARY_OP", "+", 21)]));
  Object.assign(made.frames[3] ?? {}, { code: 2 });
  return made;
}

export const libraryGround = (mine: boolean, myCode: string[] = []): Ground => ({
  index: new TraceIndex(libraryMeta(), myCode), visible: VisibleSteps.of(libraryMeta(), false), mine,
});

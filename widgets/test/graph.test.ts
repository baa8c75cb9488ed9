// The graph as text and files, its folds by call, and its keys.
import { describe, expect, it } from "vitest";
import { Bodies } from "../src/logic/bodies";
import { callNames, folded, folds, plain } from "../src/logic/folds";
import { type GraphNode, labels } from "../src/logic/graph";
import { svgText } from "../src/logic/graph_svg";
import { dotForPeople, lineAsText, textLines, wholeText } from "../src/logic/graph_text";
import { boxAfter } from "../src/logic/roving";
import { meta, node } from "./fixture";

const none = new Bodies(meta(), []);
const nodes: GraphNode[] = [
  { ...node(0, null), name: "x", op: "placeholder", target: "x", args: "" },
  { ...node(1, 4, [0]), name: "linear", target: "torch.nn.functional.linear", args: "x, (w, b), c" },
  { ...node(2, 6, [1]), name: "view", op: "call_method", target: "view", args: "linear, (2, -1), 3" },
  { ...node(3, 7, [2]), name: "w", op: "get_attr", target: "layer.w", args: "" },
  { ...node(4, 12, [2]), name: "output", op: "output", target: "output", args: "(view,)", fakes: [] },
];

describe("the graph as text", () => {
  it("is written where it is shown: a graph may have thousands of nodes", () => {
    let written = 0;
    const watched = nodes.map((one) => ({ ...one, get args() { return (written++, one.args); } }));
    const [, , , line] = textLines(watched, none, () => null);
    expect(written).toBe(0);
    expect(line?.text).toBe("    linear = torch.nn.functional.linear(x, (w, b), c)");
    expect(written).toBe(1);
  });

  const lines = textLines(nodes, none, (one) => (one.step === null ? null : one.step < 8 ? "net.py:3" : null));

  it("reads as the function that the graph computes, each line with its node", () => {
    expect(wholeText(lines)).toBe([
      "def forward(self,",
      '    x: "f32[4, s0]",',
      "):",
      "    # net.py:3",
      '    linear: "f32[4, s0]" = torch.nn.functional.linear(x, (w, b), c)',
      '    view: "f32[4, s0]" = linear.view((2, -1), 3)',
      '    w: "f32[4, s0]" = self.layer.w',
      "    return (view,)",
      "",
    ].join("\n"));
    expect(lines.map((line) => line.node?.id ?? null)).toEqual([null, 0, null, 1, 1, 2, 3, 4]);
  });

  it("says which nodes were removed", () => {
    const [, , line] = textLines([{ ...nodes[1]!, live: false }], none, () => null).map(lineAsText).concat("");
    expect(textLines([{ ...nodes[1]!, live: false }], none, () => null).map(lineAsText)[1]).toMatch(/# removed before the graph was compiled$/);
    expect(line).toBe("");
  });

  it("names inputs as the program does", () => {
    const weight: GraphNode = { ...nodes[0]!, name: "self_conv_weight", label: "self.conv.weight" };
    expect(labels(weight)[0]).toBe("self.conv.weight");
    expect(labels({ ...weight, label: "default of `gain` in `f`" })[0]).toBe("default of gain in f");
    expect(textLines([weight], none, () => null).map(lineAsText)[1]).toBe('    self_conv_weight: "f32[4, s0]",  # self.conv.weight');
    expect(dotForPeople("g", [weight], () => [])).toContain('"self.conv.weight\\nplaceholder');
  });

  it("is told to Graphviz with the texts escaped", () => {
    const evil = { ...node(9, 1, [0]), name: 'a"]; b [label="c\\', target: "f" };
    expect(dotForPeople("g", [nodes[0]!, evil], (one) => one.inputs)).toBe(
      'digraph "g" {\n  node [shape=box];\n  0 [label="x\\nplaceholder\\nf32[4, s0]"];\n  9 [label="a\\"]; b [label=\\"c\\\\\\nf\\nf32[4, s0]"];\n  0 -> 9;\n}\n',
    );
  });

  it("is drawn in a file that is XML, whatever the names are", () => {
    const evil = { ...node(9, 1, [0]), name: "<script>&\"'" };
    const layout = { width: 100, height: 80, boxes: [{ node: 9, x: 50, y: 20, width: 80, height: 36 }], frames: [], edges: [{ from: 0, to: 9, path: "M0,0C1,1 2,2 3,3" }] };
    const document = new DOMParser().parseFromString(svgText(layout, plain([evil]), []), "image/svg+xml");
    expect(document.querySelector("parsererror")).toBeNull();
    expect(document.querySelector("text")?.textContent).toBe("<script>&\"'");
    expect(document.querySelectorAll("script")).toHaveLength(0);
    expect(document.documentElement.getAttribute("viewBox")).toBe("-8 -8 116 96");
  });
});

describe("folding by module call", () => {
  const model = "L['self']", lin = `${model}.lin`;
  const called = (id: number, inputs: number[], frame: number): GraphNode => ({ ...node(id, id, inputs), modules: [model, lin], module_frames: [1, frame] });
  const relu = (id: number, inputs: number[]): GraphNode => ({ ...node(id, id, inputs), modules: [model], module_frames: [1] });

  it("makes nine boxes of nine calls of a module", () => {
    const loop = Array.from({ length: 9 }, (_, i) => [called(2 * i, i > 0 ? [2 * i - 1] : [], 10 + i), relu(2 * i + 1, [2 * i])]).flat();
    const items = folded(loop, new Set()).filter((item) => item.fold !== null);
    expect(items.map((item) => item.lines[0])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((ordinal) => `lin (${ordinal} of 9)`));
    expect(items.every((item) => item.inputs.length <= 1 && item.nodes.length === 1)).toBe(true);
  });

  it("names the only call of a module by the module alone, and counts calls within the call around", () => {
    const block = (id: number, outer: number, inner: number): GraphNode => ({ ...node(id, id), modules: [model, `${model}.block`, `${model}.block.up`], module_frames: [1, outer, inner] });
    const names = callNames([block(0, 2, 3), block(1, 4, 5), block(2, 4, 6)]);
    expect(folds(block(0, 2, 3)).map((key) => names.get(key))).toEqual([model, "block (1 of 2)", "up"]);
    expect(folds(block(2, 4, 6)).map((key) => names.get(key))).toEqual([model, "block (2 of 2)", "up (2 of 2)"]);
  });

  it("folds recordings that do not tell calls apart by module", () => {
    const old = (id: number): GraphNode => ({ ...node(id, id), modules: [model, lin], module_frames: [] });
    expect(folded([old(0), old(1)], new Set()).map((item) => item.lines)).toEqual([["lin", "2 nodes"]]);
  });
});

describe("arrow keys in the drawing", () => {
  const boxes = [{ id: 7, inputs: [] }, { id: 8, inputs: [7] }, { id: 9, inputs: [99, 7] }];

  it("lead to inputs and users, and along the graph", () => {
    expect(boxAfter(boxes, 7, "ArrowDown")).toBe(8);
    expect(boxAfter(boxes, 9, "ArrowUp")).toBe(7);
    expect([boxAfter(boxes, 8, "ArrowRight"), boxAfter(boxes, 8, "ArrowLeft")]).toEqual([9, 7]);
    expect([boxAfter(boxes, 8, "Home"), boxAfter(boxes, 8, "End")]).toEqual([7, 9]);
  });

  it("lead nowhere at the ends, and from boxes that are not there", () => {
    expect([boxAfter(boxes, 7, "ArrowUp"), boxAfter(boxes, 9, "ArrowRight"), boxAfter(boxes, 5, "Home"), boxAfter(boxes, 7, "x")]).toEqual([null, null, null, null]);
  });
});

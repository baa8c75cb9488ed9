// Bodies of operators: a checkpoint whose body calls torch.cond, written by hand.
//
//  graph 0: 0 x, 1 y = f(x), 2 holds `block`, 3 checkpoint(2, 1), 4 output
//  graph 1, `block`: 5 input for 1, 6 holds `grow`, 7 holds `shrink`, 8 cond(6, 7, 5), 9 output
//  graph 2, `grow`: 10 input for 5, 11 mul, 12 output;  graph 3, `shrink`: 13 input for 5, 14 output
import { describe, expect, it } from "vitest";
import { Bodies, type Body, bodyTitle, shortName, withRoles } from "../src/logic/bodies";
import { folded, plain } from "../src/logic/folds";
import { dotText } from "../src/logic/graph";
import { overBody, WAYS } from "../src/logic/navigate";
import { TraceIndex } from "../src/logic/trace";
import { VisibleSteps } from "../src/logic/visible";
import { meta, node } from "./fixture";

const body = (id: number, name: string, parent: number | null, step: number, first: number, last: number, outer: number, inner: number, holder: number, call: number): Body => ({
  id, attempt: 1, operator: parent === null ? "torch.utils.checkpoint.checkpoint" : "torch.cond", function: `f.<locals>.${name}`, parent, graph: id + 1, step,
  first_step: first, last_step: last, outcome: "kept", message: "", holders: [holder], calls: [call], text: `${name} was traced.`,
  lifted: [{ outer, inner, name: "y", step: first, reason: "used", text: "`y` is used." }],
});

const bodies = [body(0, "block", null, 4, 5, 10, 1, 5, 2, 3), body(1, "grow", 0, 7, 8, 8, 5, 10, 6, 8), body(2, "shrink", 0, 7, 9, 9, 5, 13, 7, 8)];
const graph = (id: number, body: number | null, nodes: number[]) => ({ id, attempt: 1, name: "", nodes, code: "", body });
const op = (id: number, graph: number, what: string, inputs: number[] = []) => ({ ...node(id, id, inputs), graph, op: what, name: `n${id}` });
const nodes = [
  op(0, 0, "placeholder"), op(1, 0, "call_function", [0]), op(2, 0, "get_attr"), op(3, 0, "call_function", [2, 1]), op(4, 0, "output", [3]),
  op(5, 1, "placeholder"), op(6, 1, "get_attr"), op(7, 1, "get_attr"), op(8, 1, "call_function", [6, 7, 5]), op(9, 1, "output", [8]),
  op(10, 2, "placeholder"), op(11, 2, "call_function", [10]), op(12, 2, "output", [11]), op(13, 3, "placeholder"), op(14, 3, "output", [13]),
];
const graphs = [graph(0, null, [0, 1, 2, 3, 4]), graph(1, 0, [5, 6, 7, 8, 9]), graph(2, 1, [10, 11, 12]), graph(3, 2, [13, 14])];
const known = new Bodies({ graphs, nodes }, bodies);
const own = nodes.slice(0, 5);
const edges = (items: { id: number; inputs: number[] }[]) => Object.fromEntries(items.map(({ id, inputs }) => [id, inputs]));

describe("bodies in the graph", () => {
  it("open in place, each in the one around it", () => {
    const { items, clusters } = known.nest(plain(own), () => true);
    expect(items.map((item) => [item.id, item.cluster])).toEqual([
      [0, null], [1, null], [5, 0], [10, 1], [11, 1], [12, 1], [13, 2], [14, 2], [8, 0], [9, 0], [3, null], [4, null],
    ]);
    expect(clusters.map(({ title, parent }) => [title, parent])).toEqual([["checkpoint: block", null], ["cond: grow", 0], ["cond: shrink", 0]]);
  });

  it("get values where they were lifted, and give results to their operator", () => {
    const { items } = known.nest(plain(own), () => true);
    expect(edges(items)).toMatchObject({ 5: [1], 10: [5], 13: [5], 8: [12, 14], 9: [8], 3: [9] });
  });

  it("are one box each where they are folded", () => {
    const { items, clusters } = known.nest(plain(own), (body) => body.id === 0);
    expect(clusters.map(({ body }) => body.id)).toEqual([0]);
    const grow = items.find((item) => item.body === 1);
    expect(grow).toMatchObject({ id: 6, lines: ["cond: grow", "1 operation"], inputs: [5], cluster: 0 });
    expect(grow?.nodes.map(({ id }) => id)).toEqual([6, 10, 11, 12]);
    expect(edges(items)).toMatchObject({ 8: [6, 7], 9: [8] });
    const outermost = known.nest(plain(own), () => false);
    expect(edges(outermost.items)).toEqual({ 0: [], 1: [0], 2: [1], 3: [2], 4: [3] });
    expect(outermost.items[2]?.nodes).toHaveLength(11);
  });

  it("are in the box of a folded module that calls their operator", () => {
    const inside = own.map((each) => (each.id === 2 || each.id === 3 ? { ...each, modules: ["L['self']", "L['self'].up"] } : each));
    const { items, clusters } = known.nest(folded(inside, new Set()), () => true);
    expect(clusters).toEqual([]);
    expect(items.find((item) => item.fold !== null)?.nodes).toHaveLength(12);
  });

  it("stand alone where no operator runs them", () => {
    const lost = bodies.map((each) => ({ ...each, holders: [], calls: [], outcome: "abandoned" }));
    const { items, clusters } = new Bodies({ graphs, nodes }, lost).nest(plain(own.slice(0, 2)), (body) => body.id === 0);
    expect(clusters.map(({ body }) => body.id)).toEqual([0]);
    expect(items.filter((item) => item.body !== null).map((item) => [item.body, item.cluster, item.inputs])).toEqual([[1, 0, [5]], [2, 0, [5]]]);
  });

  it("are told to Graphviz as clusters, by numbers and lengths alone", () => {
    const evil = bodies.map((each) => ({ ...each, function: '"];evil' }));
    const { items, clusters } = new Bodies({ graphs, nodes }, evil).nest(plain(own), () => true);
    const text = dotText(items, clusters);
    expect(text).not.toContain("evil");
    expect(text.match(/subgraph cluster_\d/g)).toEqual(["subgraph cluster_0", "subgraph cluster_1", "subgraph cluster_2"]);
    expect(text.split("subgraph cluster_1")[1]).toMatch(/^[^}]*\n10;\n11;\n12;\n}/);
  });

  it("know the lifted value, and the body, of a node", () => {
    expect(known.lift(10)?.outer).toBe(5);
    expect(known.lift(11)).toBeUndefined();
    expect(nodes.map((each) => known.of(each)?.id ?? null)).toEqual([null, null, null, null, null, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2]);
  });

  it("are called by the last of their names", () => {
    expect(["f", "f.<locals>.g", "f.<locals>.g.<locals>.h", "A.forward"].map(shortName)).toEqual(["f", "g", "h", "A.forward"]);
  });
});

describe("stepping by body", () => {
  const traced = { ...meta(), bodies };
  const ground = { index: new TraceIndex(traced), visible: VisibleSteps.of(traced, false) };

  it("knows the stack of bodies at a step", () => {
    expect([4, 5, 8, 9, 10, 11].map((step) => ground.index.bodiesAt(step).map(({ id }) => id))).toEqual([[], [0], [0, 1], [0, 2], [0], []]);
    expect(ground.index.bodiesAt(0)).toEqual([]);
  });

  it("goes into the next one, and over the one it is in or calls", () => {
    expect([2, 5, 8, 9].map((step) => WAYS.body.next(ground, step))).toEqual([5, 8, 9, null]);
    expect(WAYS.body.previous(ground, 9)).toBe(8);
    expect([4, 7, 8, 9, 10].map((step) => overBody(ground, step))).toEqual([11, 10, 9, 10, 11]);
    expect(overBody(ground, 11)).toBeNull();
  });
});

describe("bodies that are lambdas", () => {
  const lambda = (id: number, operator: string, step: number, first: number, last = first): Body => ({ ...body(id, "<lambda>", null, step, first, last, 1, 5, 2, 3), operator });
  const titles = (all: Body[]): string[] => withRoles(all, (step) => 10 + step).map(bodyTitle);

  it("are told apart by what they are for, and by their lines", () => {
    expect(titles([lambda(0, "torch.cond", 4, 5), lambda(1, "torch.cond", 4, 6), lambda(2, "torch.cond", 7, 8), lambda(3, "torch.cond", 7, 9)])).toEqual([
      "cond: true branch, line 15", "cond: false branch, line 16", "cond: true branch, line 18", "cond: false branch, line 19",
    ]);
    expect(titles([lambda(0, "torch._higher_order_ops.while_loop", 4, 5), lambda(1, "torch._higher_order_ops.while_loop", 4, 6)])).toEqual(["while_loop: condition, line 15", "while_loop: body, line 16"]);
    expect(titles([lambda(0, "a.map", 4, 5), lambda(1, "a.map", 6, 7)])).toEqual(["map: <lambda>, line 15", "map: <lambda>, line 17"]);
  });

  it("have no line where none of their steps was recorded, and named functions keep their names", () => {
    expect(titles([lambda(0, "torch.cond", 4, 5, 4), { ...lambda(1, "torch.cond", 4, 6), function: "f.<locals>.shrink" }])).toEqual(["cond: true branch", "cond: shrink"]);
  });
});

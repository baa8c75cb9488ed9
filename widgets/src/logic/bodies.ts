// Bodies of higher-order operators: the stack of them at a step, and the graph with the bodies opened in place.
import type { Meta } from "../schema";
import type { Item } from "./folds";
import { type GraphNode, LABEL_LIMIT, labels, shorten } from "./graph";

/** `role` is what a function without a name is for its operator. */
export type Body = Meta["bodies"][number] & { role?: string };
export type Lift = Body["lifted"][number];

/** A function's name without the functions that it is defined in. */
export const shortName = (name: string): string => name.split("<locals>.").at(-1) ?? name;

const operatorName = (body: Body): string => body.operator.slice(body.operator.lastIndexOf(".") + 1);

/** `cond: grow`, for headings. */
export const bodyTitle = (body: Body): string => `${operatorName(body)}: ${body.role ?? shortName(body.function)}`;

const ROLES: Partial<Record<string, readonly string[]>> = { cond: ["true branch", "false branch"], while_loop: ["condition", "body"] };

/** Give lambdas their roles, `true branch, line 12`: one has the same name as another. `lineAt` is the first line of the
 * function that runs at a step. */
export function withRoles(bodies: readonly Body[], lineAt: (step: number) => number): Body[] {
  return bodies.map((body) => {
    if (shortName(body.function) !== "<lambda>") return body;
    const beside = bodies.filter((one) => one.step === body.step && one.attempt === body.attempt && one.operator === body.operator && one.parent === body.parent);
    const role = ROLES[operatorName(body)]?.[beside.indexOf(body)] ?? "<lambda>";
    return { ...body, role: body.last_step >= body.first_step ? `${role}, line ${lineAt(body.first_step)}` : role };
  });
}

/** A body drawn as a frame around its nodes; `parent` is the body whose frame it is in. */
export interface Cluster {
  body: Body;
  parent: number | null;
  title: string;
}

export interface Nested {
  items: Item[];
  clusters: Cluster[];
}

/** The bodies of one attempt, and the nodes of their graphs. */
export class Bodies {
  private readonly held = new Map<number, Body>();
  private readonly ran = new Map<number, Body[]>();
  private readonly lifts = new Map<number, Lift>();

  constructor(private readonly meta: Pick<Meta, "graphs" | "nodes">, readonly all: readonly Body[]) {
    for (const body of all) {
      for (const id of body.holders) this.held.set(id, body);
      for (const id of body.calls) this.ran.set(id, [...(this.ran.get(id) ?? []), body]);
      for (const lift of body.lifted) this.lifts.set(lift.inner, lift);
    }
  }

  /** How the value came that an input of a body stands for. */
  lift(node: number): Lift | undefined {
    return this.lifts.get(node);
  }

  /** The body that a node is in. */
  of(node: GraphNode): Body | null {
    const id = this.meta.graphs[node.graph]?.body ?? null;
    return id === null ? null : (this.all.find((body) => body.id === id) ?? null);
  }

  /** The nodes of a body's own graph. */
  nodes(body: Body): GraphNode[] {
    const graph = body.graph === null ? undefined : this.meta.graphs[body.graph];
    return graph?.nodes.flatMap((id) => this.meta.nodes[id] ?? []) ?? [];
  }

  /** The nodes of a body's graph, and of those inside it. */
  allNodes(body: Body): GraphNode[] {
    return [...this.nodes(body), ...this.all.filter((inner) => inner.parent === body.id).flatMap((inner) => this.allNodes(inner))];
  }

  /** `outer`, the boxes of the outermost graph, with the bodies for which `opened` holds opened in place. */
  nest(outer: readonly Item[], opened: (body: Body) => boolean): Nested {
    if (this.all.length === 0 && outer.every((item) => item.fold === null)) return { items: [...outer], clusters: [] };
    const items: Item[] = [];
    const clusters: Cluster[] = [];
    const results = new Map<number, number>();
    const drawn = new Set<Body>();
    const open = (body: Body, parent: number | null, holder: number | null): void => {
      const nodes = this.nodes(body);
      drawn.add(body);
      const fate = body.outcome === "kept" ? "" : ` (${body.outcome})`;
      clusters.push({ body, parent, title: `${shorten(bodyTitle(body), 2 * LABEL_LIMIT)}${fate}` });
      const output = nodes.find((node) => node.op === "output") ?? nodes.at(-1);
      if (holder !== null && output) results.set(holder, output.id);
      add(nodes.map((node) => ({ id: node.id, lines: labels(node), inputs: this.inputs(node), nodes: [node], fold: null, body: null, cluster: body.id })), body);
    };
    const add = (boxes: readonly Item[], around: Body | null): void => {
      for (const item of boxes) {
        const body = item.fold === null ? this.held.get(item.id) : undefined;
        if (body && opened(body) && this.nodes(body).length > 0 && !drawn.has(body)) open(body, around?.id ?? null, item.id);
        else if (body) items.push({ ...this.closed(body, item.id, item.nodes), cluster: item.cluster });
        else items.push({ ...item, nodes: item.nodes.flatMap((node) => [node, ...this.within(node)]) });
      }
      for (const body of this.all) {
        if (body.parent !== (around?.id ?? null) || body.holders.length > 0 || this.nodes(body).length === 0) continue;
        if (opened(body)) open(body, around?.id ?? null, null);
        else items.push({ ...this.closed(body, OUTSIDE - body.id, []), cluster: around?.id ?? null });
      }
    };
    add(outer, null);
    return { items: connected(items, results, (item) => this.passed(item)), clusters };
  }

  private inputs(node: GraphNode): number[] {
    const lift = this.lifts.get(node.id);
    return lift ? [lift.outer] : node.inputs;
  }

  /** The nodes in the bodies that `node` holds. */
  private within(node: GraphNode): GraphNode[] {
    const body = this.held.get(node.id);
    return body ? this.allNodes(body) : [];
  }

  private closed(body: Body, id: number, holders: GraphNode[]): Item {
    const nodes = this.allNodes(body);
    const operations = this.nodes(body).filter((node) => node.op.startsWith("call")).length;
    const lines: [string, string] = [shorten(bodyTitle(body), LABEL_LIMIT), `${operations} operation${operations === 1 ? "" : "s"}`];
    return { id, lines, inputs: body.lifted.map((lift) => lift.outer), nodes: [...holders, ...nodes], fold: null, body: body.id, cluster: null };
  }

  /** The values that an operator passes to bodies: they are drawn to go there. */
  private passed(item: Item): ReadonlySet<number> {
    return new Set((this.ran.get(item.id) ?? []).flatMap((body) => body.lifted.map((lift) => lift.outer)));
  }
}

/** Ids of boxes that stand for no node are below those of folded modules. */
const OUTSIDE = -1_000_000;

/** `items` with inputs that are ids of other items: of those that a node is in, or where the result of a body is. */
function connected(items: Item[], results: ReadonlyMap<number, number>, passed: (item: Item) => ReadonlySet<number>): Item[] {
  const boxOf = new Map<number, number>();
  for (const item of items) for (const node of item.nodes) boxOf.set(node.id, item.id);
  for (const item of items) boxOf.set(item.id, item.id);
  return items.map((item) => {
    const seen = passed(item);
    const inputs = item.inputs.filter((input) => !seen.has(input)).map((input) => results.get(input) ?? boxOf.get(input) ?? input);
    return { ...item, inputs: [...new Set(inputs)].filter((input) => input !== item.id) };
  });
}

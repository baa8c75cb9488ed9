// A graph folded by module: one box for all nodes that a call of a module's `forward` added, until it is opened.
import { type GraphNode, labels, shorten, LABEL_LIMIT } from "./graph";

/** A box of the drawing: a node, or a call of a module that stands for several. `inputs` are ids of other boxes. */
export interface Item {
  id: number;
  lines: [string, string];
  inputs: number[];
  /** What it stands for; one node, but for modules. */
  nodes: GraphNode[];
  /** For a module: its key among those that can be opened. */
  fold: string | null;
  /** For the body of an operator that is drawn as one box: which. */
  body: number | null;
  /** The body that it is drawn inside. */
  cluster: number | null;
}

const SEPARATOR = "\u0000";
/** Between a module and the frame that runs its call. */
const CALL = "\u0001";

/** The keys of the calls of modules that a node is in, outermost first. The outermost is the model itself. */
export function folds(node: Pick<GraphNode, "modules" | "module_frames">): string[] {
  const calls = node.modules.map((module, i) => `${module}${CALL}${node.module_frames[i] ?? ""}`);
  return calls.map((_, i) => calls.slice(0, i + 1).join(SEPARATOR));
}

/** `blocks[3].up` of a key: the module's source from where it differs from that of the module around it. */
export function foldName(key: string): string {
  const [own = "", around = ""] = key.split(SEPARATOR).reverse().map((call) => call.split(CALL)[0] ?? "");
  return around !== "" && own.startsWith(around) ? own.slice(around.length).replace(/^\./, "") : own;
}

/** The name of each call of a module, by key; `lin (2 of 3)` where the call around it makes several. */
export function callNames(nodes: readonly GraphNode[]): ReadonlyMap<string, string> {
  const calls = new Map<string, Set<string>>();
  for (const node of nodes)
    for (const key of folds(node)) {
      const module = key.slice(0, key.lastIndexOf(CALL));
      calls.set(module, (calls.get(module) ?? new Set()).add(key));
    }
  const names = new Map<string, string>();
  for (const keys of calls.values()) {
    let ordinal = 0;
    for (const key of keys) names.set(key, keys.size === 1 ? foldName(key) : `${foldName(key)} (${++ordinal} of ${keys.size})`);
  }
  return names;
}

/** Each node as a box. */
export function plain(nodes: readonly GraphNode[]): Item[] {
  return nodes.map((node) => ({
    id: node.id,
    get lines() {
      return labels(node); // (Most of a large graph are not drawn.)
    },
    inputs: [...new Set(node.inputs)],
    nodes: [node],
    fold: null,
    body: null,
    cluster: null,
  }));
}

/** `nodes` with the calls of modules inside the model as single boxes, except those in `open`. */
export function folded(nodes: readonly GraphNode[], open: ReadonlySet<string>, names: ReadonlyMap<string, string> = callNames(nodes)): Item[] {
  const modules = new Map<string, Item>();
  const items: Item[] = [];
  const boxOf = new Map<number, number>();
  for (const node of nodes) {
    const key = folds(node).slice(1).find((candidate) => !open.has(candidate));
    if (key === undefined) {
      items.push(...plain([node]));
      boxOf.set(node.id, node.id);
      continue;
    }
    let item = modules.get(key);
    if (!item) {
      const name = names.get(key) ?? foldName(key);
      item = { id: -1 - modules.size, lines: [shorten(name, LABEL_LIMIT), ""], inputs: [], nodes: [], fold: key, body: null, cluster: null };
      modules.set(key, item);
      items.push(item);
    }
    item.nodes.push(node);
    boxOf.set(node.id, item.id);
  }
  for (const item of items) {
    if (item.fold !== null) item.lines[1] = `${item.nodes.length} node${item.nodes.length === 1 ? "" : "s"}`;
    const inputs = item.nodes.flatMap((node) => node.inputs).map((input) => boxOf.get(input));
    item.inputs = [...new Set(inputs)].filter((input): input is number => input !== undefined && input !== item.id);
  }
  return items;
}

/** What a box stands for, as its class and colour say it. */
export function kindOf(item: Item): string {
  return item.body !== null ? "body" : item.fold !== null ? "module" : (item.nodes[0]?.op ?? "");
}

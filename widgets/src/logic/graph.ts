// From nodes to Graphviz text, and from Graphviz's answer in JSON to boxes and curves that we draw ourselves.
import type { Meta } from "../schema";

export type GraphNode = Meta["nodes"][number];

/** More nodes than this are not drawn at once. */
export const FOLD_AT = 150;
/** How many are drawn around the current one then. */
export const NEIGHBOURS = 36;

/** A box, in points, y downwards; `x`, `y` is its middle. */
export interface Box {
  node: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Edge {
  from: number;
  to: number;
  path: string;
}

export interface Layout {
  width: number;
  height: number;
  boxes: Box[];
  /** Frames around boxes, the outer ones first; `node` is the body's id. */
  frames: Box[];
  edges: Edge[];
}

const POINT = 72;
const CHARACTER = 6.7;
export const LABEL_LIMIT = 26;

export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** The two lines that a node shows: its name (of an input, what the program calls it), and what it computes. */
export function labels(node: GraphNode): [string, string] {
  const fake = node.fakes[0];
  const what = fake ? shapeText(fake) : node.op === "output" ? "" : node.op;
  return [shorten(plainName(node), LABEL_LIMIT), shorten(what, LABEL_LIMIT)];
}

/** What a drawing calls a node: `self.conv.weight` for the input `self_conv_weight`. */
export const plainName = (node: GraphNode): string => (node.label === "" ? node.name : node.label.replaceAll("`", ""));

const DTYPES: Record<string, string> = {
  "torch.float32": "f32", "torch.float64": "f64", "torch.float16": "f16", "torch.bfloat16": "bf16",
  "torch.int64": "i64", "torch.int32": "i32", "torch.int16": "i16", "torch.int8": "i8", "torch.uint8": "u8",
  "torch.bool": "bool", "torch.complex64": "c64", "torch.complex128": "c128",
};

export function dtypeText(dtype: string): string {
  return DTYPES[dtype] ?? DTYPES[`torch.${dtype}`] ?? dtype.replace(/^torch\./, "");
}

/** `f32[4, 8]` for the metadata of a tensor; the type's name if it has no dtype. */
export function shapeText(fake: { type: string; dtype: string; shape: string[] }): string {
  return fake.dtype === "" ? fake.type : `${dtypeText(fake.dtype)}[${fake.shape.join(", ")}]`;
}

interface Drawn {
  id: number;
  lines: [string, string];
  inputs: number[];
  cluster?: number | null;
}

/** A frame around the boxes whose `cluster` is the id of `body`, and the frames whose `parent` is. */
interface Framed {
  body: { id: number };
  parent: number | null;
  title: string;
}

/** Graphviz text of boxes, the edges among them, and frames around them. Names are our own numbers, and titles are only
 * as long as ours, so nothing has to be escaped. */
export function dotText(nodes: readonly Drawn[], frames: readonly Framed[] = []): string {
  const shown = new Set(nodes.map((node) => node.id));
  const lines = ["digraph{rankdir=TB;nodesep=0.18;ranksep=0.28;node[shape=box,fixedsize=true,label=\"\"];"];
  for (const node of nodes) {
    const width = Math.max(...node.lines.map((text) => text.length), 4) * CHARACTER + 18;
    lines.push(`${node.id}[width=${(width / POINT).toFixed(3)},height=${(36 / POINT).toFixed(3)}];`);
  }
  lines.push(...framesText(nodes, frames, null));
  for (const node of nodes) for (const input of node.inputs) if (shown.has(input)) lines.push(`${input}->${node.id};`);
  lines.push("}");
  return lines.join("\n");
}

function framesText(nodes: readonly Drawn[], frames: readonly Framed[], parent: number | null): string[] {
  return frames.filter((frame) => frame.parent === parent).flatMap(({ body, title }) => {
    const inside = nodes.filter((node) => node.cluster === body.id).map((node) => `${node.id};`);
    return [
      `subgraph cluster_${body.id}{label="${"x".repeat(title.length + 2)}";labeljust=l;fontname=Courier;fontsize=11;margin=9;`,
      ...inside, ...framesText(nodes, frames, body.id), "}",
    ];
  });
}

interface Answer {
  bb: string;
  objects?: { name: string; bb?: string; pos?: string; width?: string; height?: string }[];
  edges?: { tail: number; head: number; pos?: string }[];
}

const numbers = (text: string): number[] => text.split(/[ ,]/).map(Number);

/** Read Graphviz's answer in JSON (points, y upwards; sizes in inches). */
export function readLayout(text: string): Layout {
  const { bb, objects = [], edges = [] } = JSON.parse(text) as Answer;
  const [, , width = 0, height = 0] = numbers(bb);
  const layout: Layout = { width, height, boxes: [], frames: [], edges: [] };
  for (const object of objects) {
    if (object.bb !== undefined) {
      const [left = 0, bottom = 0, right = 0, top = 0] = numbers(object.bb);
      const node = Number(object.name.replace("cluster_", ""));
      layout.frames.push({ node, x: (left + right) / 2, y: height - (bottom + top) / 2, width: right - left, height: top - bottom });
    } else if (object.pos !== undefined) {
      const [x = 0, y = 0] = numbers(object.pos);
      layout.boxes.push({ node: Number(object.name), x, y: height - y, width: Number(object.width) * POINT, height: Number(object.height) * POINT });
    }
  }
  for (const { tail, head, pos } of edges) {
    const points = (pos ?? "").split(" ").filter((point) => /^[-\d]/.test(point)).map((point) => {
      const [x = 0, y = 0] = numbers(point);
      return `${x.toFixed(1)},${(height - y).toFixed(1)}`;
    });
    layout.edges.push({ from: Number(objects[tail]?.name), to: Number(objects[head]?.name), path: `M${points[0] ?? "0,0"}C${points.slice(1).join(" ")}` });
  }
  return layout;
}

/** From a node that many use (a weight), go on to so many of them only. */
const BRANCHING = 6;

/** The neighbours of each node, along edges in either direction. */
export type Neighbours = ReadonlyMap<number, readonly number[]>;

export function neighbours(nodes: readonly { id: number; inputs: number[] }[]): Neighbours {
  const links = new Map<number, number[]>(nodes.map((node) => [node.id, []]));
  for (const node of nodes)
    for (const input of node.inputs) {
      links.get(node.id)?.push(input);
      links.get(input)?.push(node.id);
    }
  return links;
}

/**
 * Up to `limit` nodes nearest to `centre` along edges in either direction, in graph order. Of a node with many
 * neighbours those are taken that were made nearest to `centre` in time.
 */
export function neighbourhood<Box extends { id: number; inputs: number[] }>(nodes: readonly Box[], centre: number, limit: number, links: Neighbours = neighbours(nodes)): Box[] {
  const found = new Set<number>(links.has(centre) ? [centre] : []);
  const queue = [...found];
  for (let at = 0; at < queue.length && found.size < limit; at++)
    for (const other of nearest(links.get(queue[at] as number) ?? [], centre)) {
      if (found.size >= limit || found.has(other) || !links.has(other)) continue;
      found.add(other);
      queue.push(other);
    }
  return nodes.filter((node) => found.has(node.id));
}

function nearest(nodes: readonly number[], centre: number): readonly number[] {
  if (nodes.length <= BRANCHING) return nodes;
  const kept: number[] = [];
  for (const node of nodes) {
    let at = kept.length;
    while (at > 0 && Math.abs((kept[at - 1] as number) - centre) > Math.abs(node - centre)) at--;
    if (at >= BRANCHING) continue;
    kept.splice(at, 0, node);
    if (kept.length > BRANCHING) kept.pop();
  }
  return kept;
}

/** Whether `node` was there at `step`; one that a call adds after its callee ran is there at the call, and after it. */
export const there = (node: GraphNode, step: number): boolean => node.step === step || node.after <= step;

/** The newest node that was there at `step`; before the first one, the first. */
export function currentNode(nodes: readonly GraphNode[], step: number): GraphNode | null {
  let found: GraphNode | null = null;
  for (const node of nodes) if (node.step !== null && node.step <= step && (found?.step ?? -1) <= node.step) found = node;
  return found ?? nodes[0] ?? null;
}

/** Nodes in runs of one source line (`key` says which), in graph order. */
export function runs(nodes: readonly GraphNode[], key: (node: GraphNode) => string): { key: string; nodes: GraphNode[] }[] {
  const out: { key: string; nodes: GraphNode[] }[] = [];
  for (const node of nodes) {
    const here = key(node);
    const last = out.at(-1);
    if (last?.key === here) last.nodes.push(node);
    else out.push({ key: here, nodes: [node] });
  }
  return out;
}

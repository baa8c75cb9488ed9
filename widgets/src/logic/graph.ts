// From nodes to Graphviz text, and from Graphviz's "plain" answer to boxes and curves that we draw ourselves.
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
  edges: Edge[];
}

const POINT = 72;
const CHARACTER = 6.7;
export const LABEL_LIMIT = 26;

export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

/** The two lines that a node shows: its name, and what it computes. */
export function labels(node: GraphNode): [string, string] {
  const fake = node.fakes[0];
  const what = fake ? shapeText(fake) : node.op === "output" ? "" : node.op;
  return [shorten(node.name, LABEL_LIMIT), shorten(what, LABEL_LIMIT)];
}

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

/** Graphviz text of boxes and the edges among them. Names are our own numbers, so nothing has to be escaped. */
export function dotText(nodes: readonly { id: number; lines: [string, string]; inputs: number[] }[]): string {
  const shown = new Set(nodes.map((node) => node.id));
  const lines = ["digraph{rankdir=TB;nodesep=0.18;ranksep=0.28;node[shape=box,fixedsize=true,label=\"\"];"];
  for (const node of nodes) {
    const width = Math.max(...node.lines.map((text) => text.length), 4) * CHARACTER + 18;
    lines.push(`${node.id}[width=${(width / POINT).toFixed(3)},height=${(36 / POINT).toFixed(3)}];`);
  }
  for (const node of nodes) for (const input of node.inputs) if (shown.has(input)) lines.push(`${input}->${node.id};`);
  lines.push("}");
  return lines.join("\n");
}

/** Read Graphviz's "plain" format (inches, y upwards). */
export function readPlain(text: string): Layout {
  const layout: Layout = { width: 0, height: 0, boxes: [], edges: [] };
  for (const line of text.split("\n")) {
    const [what, ...words] = line.split(" ");
    const number = (i: number): number => Number(words[i]) * POINT;
    const down = (i: number): number => layout.height - number(i);
    if (what === "graph") {
      layout.width = number(1);
      layout.height = number(2);
    } else if (what === "node") {
      layout.boxes.push({ node: Number(words[0]), x: number(1), y: down(2), width: number(3), height: number(4) });
    } else if (what === "edge") {
      const points: string[] = [];
      for (let i = 0; i < Number(words[2]); i++) points.push(`${number(3 + 2 * i).toFixed(1)},${down(4 + 2 * i).toFixed(1)}`);
      layout.edges.push({ from: Number(words[0]), to: Number(words[1]), path: `M${points[0] ?? "0,0"}C${points.slice(1).join(" ")}` });
    }
  }
  return layout;
}

/** From a node that many use (a weight), go on to so many of them only. */
const BRANCHING = 6;

/**
 * Up to `limit` nodes nearest to `centre` along edges in either direction, in graph order. Of a node with many
 * neighbours those are taken that were made nearest to `centre` in time.
 */
export function neighbourhood<Box extends { id: number; inputs: number[] }>(nodes: readonly Box[], centre: number, limit: number): Box[] {
  const links = new Map<number, number[]>(nodes.map((node) => [node.id, []]));
  for (const node of nodes)
    for (const input of node.inputs) {
      links.get(node.id)?.push(input);
      links.get(input)?.push(node.id);
    }
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
  return [...nodes].sort((a, b) => Math.abs(a - centre) - Math.abs(b - centre)).slice(0, BRANCHING);
}

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

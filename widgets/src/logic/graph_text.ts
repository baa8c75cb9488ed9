// A graph as text: Python that a person reads, and Graphviz's language.
import type { Bodies } from "./bodies";
import { bodyTitle, shortName } from "./bodies";
import { type GraphNode, plainName, shapeText } from "./graph";

/** A line of the text. `node` is the one that it is about, or that the lines below it begin with. */
export interface TextLine {
  kind: "head" | "comment" | "node";
  text: string;
  /** The result, for a node. */
  type: string;
  node: GraphNode | null;
}

/** Where a node was added, in words; null where no line of the program did it. */
export type Place = (node: GraphNode) => string | null;

/** The graph of `own`, and below it those of the bodies of operators. */
export function textLines(own: readonly GraphNode[], bodies: Bodies, place: Place): TextLine[] {
  const inner = bodies.all.filter((body) => bodies.nodes(body).length > 0);
  return [
    ...functionLines("forward", "", own, place),
    ...inner.flatMap((body) => [
      { kind: "head", text: "", type: "", node: null } as TextLine,
      ...functionLines(shortName(body.function), bodyTitle(body), bodies.nodes(body), place),
    ]),
  ];
}

function functionLines(name: string, title: string, nodes: readonly GraphNode[], place: Place): TextLine[] {
  const inputs = nodes.filter((node) => node.op === "placeholder");
  const lines: TextLine[] = title === "" ? [] : [{ kind: "comment", text: `# ${title}`, type: "", node: null }];
  lines.push({ kind: "head", text: `def ${name}(self${inputs.length > 0 ? "," : "):"}`, type: "", node: null });
  inputs.forEach((node) => lines.push(nodeLine(node, () => `    ${node.name}`)));
  if (inputs.length > 0) lines.push({ kind: "head", text: "):", type: "", node: null });
  let before: string | null = null;
  for (const node of nodes) {
    if (node.op === "placeholder") continue;
    const where = place(node);
    if (where !== null && where !== before) lines.push({ kind: "comment", text: `    # ${where}`, type: "", node });
    before = where ?? before;
    lines.push(nodeLine(node, () => statement(node)));
  }
  return lines;
}

/** The line of a node, whose text is made when it is shown: a graph may have thousands. */
function nodeLine(node: GraphNode, text: () => string): TextLine {
  return {
    kind: "node",
    node,
    get text() {
      return text();
    },
    get type() {
      return node.op === "output" ? "" : typeText(node);
    },
  };
}

const typeText = (node: GraphNode): string => node.fakes.map(shapeText).join(", ");

/** `relu = linear.relu()`, without the type of the result. */
function statement(node: GraphNode): string {
  if (node.op === "output") return `    return ${node.args}`;
  return `    ${node.name} = ${expression(node)}`;
}

function expression(node: GraphNode): string {
  if (node.op === "get_attr") return `self.${node.target}`;
  if (node.op === "call_module") return `self.${node.target}(${node.args})`;
  if (node.op !== "call_method") return `${node.target}(${node.args})`;
  const comma = firstComma(node.args);
  return `${node.args.slice(0, comma)}.${node.target}(${node.args.slice(comma + 1).trim()})`;
}

/** Where the first of several arguments ends. */
function firstComma(args: string): number {
  let depth = 0;
  for (let i = 0; i < args.length; i++) {
    const character = args[i] as string;
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    else if (character === "," && depth === 0) return i;
  }
  return args.length;
}

/** What stands after a node's type: for an input, what the program calls it. */
export function afterType(text: string, node: GraphNode): string {
  if (node.op !== "placeholder") return text.slice(text.indexOf(node.name) + node.name.length);
  return node.label !== "" && node.label !== node.name ? `,  # ${node.label}` : ",";
}

/** One line as plain text: `    relu: "f32[3, 4]" = linear.relu()`. */
export function lineAsText({ text, type, node }: TextLine): string {
  if (type === "" || !node) return text;
  const at = text.indexOf(node.name) + node.name.length;
  return `${text.slice(0, at)}: "${type}"${afterType(text, node)}${node.live ? "" : "  # removed before the graph was compiled"}`;
}

/** All lines, to be saved. */
export const wholeText = (lines: readonly TextLine[]): string => lines.map((line) => `${lineAsText(line)}\n`).join("");

const quoted = (text: string): string => `"${text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`;

/** Graphviz's language for people: a box for each node, an edge to each node that uses it. */
export function dotForPeople(name: string, nodes: readonly GraphNode[], inputsOf: (node: GraphNode) => readonly number[]): string {
  const live = nodes.filter((node) => node.live);
  const shown = new Set(live.map((node) => node.id));
  const boxes = live.map((node) => `  ${node.id} [label=${quoted([plainName(node), node.op === "placeholder" || node.op === "output" ? node.op : node.target, typeText(node)].filter((line) => line !== "").join("\n"))}];`);
  const edges = live.flatMap((node) => inputsOf(node).filter((input) => shown.has(input)).map((input) => `  ${input} -> ${node.id};`));
  return [`digraph ${quoted(name)} {`, "  node [shape=box];", ...boxes, ...edges, "}", ""].join("\n");
}

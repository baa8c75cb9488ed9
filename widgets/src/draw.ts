// Graphviz in the page: loaded when first needed, its text answer read into numbers (never put in the page as markup).
import { type Layout, readLayout } from "./logic/graph";

type Engine = { layout(dot: string, format: "json", engine: "dot"): string };

let engine: Promise<Engine> | undefined;
const done = new Map<string, Promise<Layout>>();
const KEPT = 64;

async function load(): Promise<Engine> {
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  return (await Graphviz.load()) as unknown as Engine;
}

/** The layout of a graph in Graphviz's language; the last ones are kept. */
export function draw(text: string): Promise<Layout> {
  let layout = done.get(text);
  if (!layout) {
    engine ??= load();
    layout = engine.then((graphviz) => readLayout(graphviz.layout(text, "json", "dot")));
    done.set(text, layout);
    const [oldest] = done.keys();
    if (done.size > KEPT && oldest !== undefined) done.delete(oldest);
  }
  return layout;
}

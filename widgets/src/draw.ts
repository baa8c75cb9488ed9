// Graphviz in the page: loaded when first needed, its text answer read into numbers (never put in the page as markup).
import { type Layout, readLayout } from "./logic/graph";
import { origins } from "./origins";
import { imported } from "./page";

type Engine = { layout(dot: string, format: "json", engine: "dot"): string };
interface EngineModule {
  Graphviz: { load(): Promise<Engine> };
}

let engine: Promise<Engine> | undefined;
const done = new Map<string, Promise<Layout>>();
const KEPT = 64;
/** So long an origin of Graphviz may take before the next one is asked, too. */
const PATIENCE = 5000;

async function load(): Promise<Engine> {
  let failure: unknown = new Error("Graphviz is not at hand");
  const asked: Promise<BlobPart>[] = [];
  for (const source of [...origins].reverse()) {
    asked.push(source());
    try {
      const late = new Promise<never>((_, reject) => setTimeout(reject, PATIENCE, new Error("the kernel does not answer")));
      const text = await Promise.race([Promise.any(asked), late]);
      return await (await imported<EngineModule>(text)).Graphviz.load();
    } catch (error) {
      failure = error instanceof AggregateError ? error.errors.at(-1) : error;
    }
  }
  engine = undefined; // asked again at the next graph
  throw failure;
}

/** The layout of a graph in Graphviz's language; the last ones are kept. */
export function draw(text: string): Promise<Layout> {
  let layout = done.get(text);
  if (!layout) {
    engine ??= load();
    layout = engine.then((graphviz) => readLayout(graphviz.layout(text, "json", "dot")));
    layout.catch(() => done.delete(text));
    done.set(text, layout);
    const [oldest] = done.keys();
    if (done.size > KEPT && oldest !== undefined) done.delete(oldest);
  }
  return layout;
}

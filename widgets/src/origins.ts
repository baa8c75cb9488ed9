// Where Graphviz may come from: the explorers of the page.
type Source = () => Promise<BlobPart>;

export const origins = new Set<Source>();

/** Take Graphviz from there when it is needed. Returns a function that withdraws it. */
export function offerGraphviz(source: Source): () => void {
  origins.add(source);
  return () => origins.delete(source);
}

// A trace inside the page: gzipped in base64, one script element a block.
import type { Fixes, Meta, TrackerChunk, Window } from "../schema";
import type { Store } from "./store";

export class PageStore implements Store {
  /** `root` contains the blocks; `kernel` is there while a kernel has the trace as well. */
  constructor(
    private readonly root: ParentNode,
    private readonly kernel: () => Store | null = () => null,
  ) {}

  meta = (): Promise<Meta> => this.json<Meta>("meta");
  window = (index: number): Promise<Window> => this.json<Window>(`window-${index}`);
  chunk = (index: number): Promise<TrackerChunk> => this.json<TrackerChunk>(`chunk-${index}`);

  async graphviz(): Promise<BlobPart> {
    if (this.find("graphviz")) return (await this.read("graphviz")).arrayBuffer();
    const kernel = this.kernel();
    if (!kernel) throw new Error("Graphviz is not part of this file, and comes from the kernel: run the cell again");
    return kernel.graphviz();
  }

  get fixes(): (() => Promise<Fixes>) | undefined {
    return this.kernel()?.fixes;
  }

  private find(name: string): string {
    return this.root.querySelector(`script[data-tracewalk-block="${name}"]`)?.textContent?.trim() ?? "";
  }

  private async json<T>(name: string): Promise<T> {
    return (await (await this.read(name)).json()) as T;
  }

  private async read(name: string): Promise<Response> {
    const text = this.find(name);
    if (text === "") throw new Error(`This page has no block "${name}"; it was not written completely.`);
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  }
}

// A trace inside the page, in blocks: gzipped JSON in base64.
import type { Differences, LaterChunk, Meta, TouchedChunk, TrackerChunk, Window } from "../schema";
import type { Store } from "./store";

/** The blocks that are parts of the front end. */
const MODULES = ["graphviz", "panes"] as const;

/** Return the packed text of a block; undefined where there is none. */
export type Blocks = (name: string) => string | null | undefined;

/** The blocks of a page, one script element each. There may be thousands, so they are looked up once. */
export function blocksOf(page: ParentNode): Blocks {
  const found = [...page.querySelectorAll<HTMLElement>("script[data-tracewalk-block]")];
  const blocks = new Map(found.map((element) => [element.dataset["tracewalkBlock"], element]));
  return (name) => blocks.get(name)?.textContent?.trim();
}

/** The blocks of an output: names and texts, separated by spaces, in an attribute, which is what sanitizers remove whole. */
export function blocksIn(output: string): Blocks {
  const words = output.split(" ");
  const blocks = new Map<string, string | undefined>();
  for (let i = 0; i < words.length; i += 2) blocks.set(words[i] ?? "", words[i + 1]);
  return (name) => blocks.get(name);
}

export class PageStore implements Store {
  private inPage: Store | null = null;

  /** `kernel` is there while a kernel has the trace as well. */
  constructor(
    private readonly blocks: Blocks,
    private readonly kernel: () => Store | null = () => null,
  ) {}

  meta = (): Promise<Meta> => this.json<Meta>("meta");
  window = (index: number): Promise<Window> => this.json<Window>(`window-${index}`);
  chunk = (index: number): Promise<TrackerChunk> => this.json<TrackerChunk>(`chunk-${index}`);

  later = (index: number): Promise<LaterChunk> => this.json<LaterChunk>(`later-${index}`);
  touched = (index: number): Promise<TouchedChunk> => this.json<TouchedChunk>(`touched-${index}`);

  graphviz = (): Promise<BlobPart> => this.module("graphviz");
  panes = (): Promise<BlobPart> => this.module("panes");

  private async module(name: (typeof MODULES)[number]): Promise<BlobPart> {
    if (this.blocks(name)) return (await this.read(name)).arrayBuffer();
    const kernel = this.kernel();
    if (!kernel) throw new Error("it is not part of this file, and comes from the kernel. Run the cell again.");
    return kernel[name]();
  }

  get under(): Store["under"] {
    return this.kernel()?.under;
  }

  get fixes(): Store["fixes"] {
    return this.kernel()?.fixes;
  }

  get besideTorch(): Store["besideTorch"] {
    return this.kernel()?.besideTorch;
  }

  get stops(): Store["stops"] {
    return this.kernel()?.stops;
  }

  get before(): Store | undefined {
    return this.isCompared ? this.other : this.kernel()?.before;
  }

  get differences(): Store["differences"] {
    return this.isCompared ? () => this.json<Differences>("differences-0") : this.kernel()?.differences;
  }

  /** Whether the recording before is in the page, too. */
  private get isCompared(): boolean {
    return this.blocks("differences-0") != null;
  }

  private get other(): Store {
    return (this.inPage ??= new PageStore(
      (name) => this.blocks(MODULES.some((one) => one === name) ? name : `before-${name}`),
      () => this.kernel()?.before ?? null,
    ));
  }

  private async json<T>(name: string): Promise<T> {
    return (await (await this.read(name)).json()) as T;
  }

  private async read(name: string): Promise<Response> {
    const text = this.blocks(name);
    if (!text) throw new Error(`This page has no block "${name}"; it was not written completely.`);
    const decoded = atob(text);
    const bytes = new Uint8Array(decoded.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = decoded.charCodeAt(i); // `Uint8Array.from` takes ten times as long
    // Without a pipe, which costs the main thread twice as much; what is wrong with the data, the reader is told.
    const { readable, writable } = new DecompressionStream("gzip");
    const writer = writable.getWriter();
    Promise.all([writer.write(bytes), writer.close()]).catch(() => undefined);
    return new Response(readable);
  }
}

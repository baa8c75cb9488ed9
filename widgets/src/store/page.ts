// A trace inside the page: gzipped JSON in base64, one script element a block.
import type { Differences, Meta, TrackerChunk, Window } from "../schema";
import type { Store } from "./store";

export class PageStore implements Store {
  readonly before?: Store;
  readonly differences?: () => Promise<Differences>;

  /** `prefix` is that of the blocks' names. */
  constructor(private readonly root: ParentNode, private readonly prefix = "") {
    if (prefix !== "" || !root.querySelector('script[data-tracewalk-block="differences-0"]')) return;
    this.before = new PageStore(root, "before-");
    this.differences = () => this.block<Differences>("differences-0");
  }

  meta = (): Promise<Meta> => this.block<Meta>("meta");
  window = (index: number): Promise<Window> => this.block<Window>(`window-${index}`);
  chunk = (index: number): Promise<TrackerChunk> => this.block<TrackerChunk>(`chunk-${index}`);

  private async block<T>(name: string): Promise<T> {
    const element = this.root.querySelector(`script[data-tracewalk-block="${this.prefix}${name}"]`);
    if (!element?.textContent) throw new Error(`This page has no block "${name}"; it was not written completely.`);
    const bytes = Uint8Array.from(atob(element.textContent.trim()), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return (await new Response(stream).json()) as T;
  }
}

// The last `limit` answers of a store, and its open requests. Reading never waits; arrivals are announced.
import { messageOf } from "../logic/errors";

/** The state of a request to the store: the value, loading, or unavailable with the reason. */
export type Asked<T> = { value: T } | { error: string } | "loading";

export class Lru<T> {
  private readonly entries = new Map<number, Asked<T>>();

  constructor(
    private readonly load: (index: number) => Promise<T>,
    private readonly limit: number,
    private readonly arrived: () => void,
  ) {}

  /** Return the entry if it is there. */
  held(index: number): Asked<T> | undefined {
    const entry = this.entries.get(index);
    if (entry === undefined) return undefined;
    this.entries.delete(index);
    this.entries.set(index, entry);
    return entry;
  }

  /** Return the entry, and request it if it is missing. */
  get(index: number): Asked<T> {
    const entry = this.held(index);
    if (entry !== undefined) return entry;
    this.put(index, "loading");
    this.load(index).then(
      (value) => this.settle(index, { value }),
      (error: unknown) => this.settle(index, { error: messageOf(error) }),
    );
    return "loading";
  }

  /** Forget failed entries, so that the next `get` requests them again. */
  retry(): void {
    for (const [index, entry] of this.entries) if (entry !== "loading" && "error" in entry) this.entries.delete(index);
    this.arrived();
  }

  get size(): number {
    return this.entries.size;
  }

  private settle(index: number, entry: Asked<T>): void {
    if (this.entries.has(index)) this.entries.set(index, entry);
    this.arrived();
  }

  private put(index: number, entry: Asked<T>): void {
    this.entries.set(index, entry);
    for (const [oldest, held] of this.entries) {
      if (this.entries.size <= this.limit) break;
      if (held !== "loading") this.entries.delete(oldest);
    }
  }
}

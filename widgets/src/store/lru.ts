// The last `limit` answers of a store, with what is on its way. Reading never waits; arrivals are announced.

type Entry<T> = { value: T } | { error: string } | "loading";

export class Lru<T> {
  private readonly entries = new Map<number, Entry<T>>();

  constructor(
    private readonly load: (index: number) => Promise<T>,
    private readonly limit: number,
    private readonly arrived: () => void,
  ) {}

  /** What is here; where it is not, it is sent for. */
  get(index: number): Entry<T> {
    const entry = this.entries.get(index);
    if (entry !== undefined) {
      this.entries.delete(index);
      this.entries.set(index, entry);
      return entry;
    }
    this.put(index, "loading");
    this.load(index).then(
      (value) => this.settle(index, { value }),
      (error: unknown) => this.settle(index, { error: error instanceof Error ? error.message : String(error) }),
    );
    return "loading";
  }

  /** Forget what failed, so that the next `get` asks again. */
  retry(): void {
    for (const [index, entry] of this.entries) if (entry !== "loading" && "error" in entry) this.entries.delete(index);
    this.arrived();
  }

  get size(): number {
    return this.entries.size;
  }

  private settle(index: number, entry: Entry<T>): void {
    if (this.entries.has(index)) this.entries.set(index, entry);
    this.arrived();
  }

  private put(index: number, entry: Entry<T>): void {
    this.entries.set(index, entry);
    for (const [oldest, held] of this.entries) {
      if (this.entries.size <= this.limit) break;
      if (held !== "loading") this.entries.delete(oldest);
    }
  }
}

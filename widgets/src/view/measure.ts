// What is read of the layout, all of it before what is written: after each write the next read has the page laid out anew.

type Write = (() => void) | undefined;
let reads: (() => Write)[] = [];

/** Call `read` once everything that changes now has been drawn; what it returns is done after the reads of all others. */
export function measured(read: () => Write): void {
  if (reads.push(read) > 1) return;
  queueMicrotask(() => {
    const all = reads;
    reads = [];
    for (const write of all.map((one) => one())) write?.();
  });
}

// Graph breaks by the place in the program that causes them. A break in an inlined function breaks each of its callers,
// too, so one line of the program often stands behind several breaks.
import type { Meta } from "../schema";

export type Break = Meta["breaks"][number];

export interface BreakPlace {
  /** The break of the function that holds the line, if it was traced on its own; else the first. */
  main: Break;
  others: Break[];
}

export function breakPlaces(breaks: readonly Break[]): BreakPlace[] {
  const places = new Map<string, Break[]>();
  for (const found of breaks) {
    const key = `${found.reason_id} ${found.code} ${found.line} ${found.message}`;
    const known = places.get(key);
    if (known) known.push(found);
    else places.set(key, [found]);
  }
  return [...places.values()].map((found) => {
    const main = found.find((one) => one.root_code === one.code) ?? (found[0] as Break);
    return { main, others: found.filter((one) => one !== main) };
  });
}

// Graph breaks by the place in the program that causes them. A break in an inlined function breaks each of its callers,
// too, so one line of the program often causes several breaks.
import type { Code, Meta, Place } from "../schema";

export type Break = Meta["breaks"][number];

export interface BreakPlace {
  /** The break of the function that contains the line, if it was traced separately; else the first. */
  main: Break;
  others: Break[];
}

/** The code with this id; for a resume function, that of the function it resumes. */
export function functionOf(codes: readonly Code[], id: number): number {
  return codes[id]?.resumes ?? id;
}

/** One place for each line of the program and each reason; a resume function counts as the function it resumes, and
 * messages may name what differs from call to call. A break of a library's function on its own counts to the first line
 * of the program that leads there, if there is one. */
export function breakPlaces(breaks: readonly Break[], codes: readonly Code[]): BreakPlace[] {
  const at = (found: Break, { code, line }: Place): string => `${found.reason_id} ${functionOf(codes, code)} ${line}`;
  const above = new Map<string, string>();
  for (const found of breaks) {
    const below = found.library && at(found, found.library);
    if (below !== null && !above.has(below)) above.set(below, at(found, found));
  }
  const places = new Map<string, Break[]>();
  for (const found of breaks) {
    const own = at(found, found);
    const key = above.get(own) ?? own;
    const known = places.get(key);
    if (known) known.push(found);
    else places.set(key, [found]);
  }
  return [...places].map(([key, found]) => {
    const own = found.filter((one) => at(one, one) === key);
    const main = own.find((one) => one.root_code === one.code) ?? (own[0] as Break);
    return { main, others: found.filter((one) => one !== main) };
  });
}

/** The places, those first that ended the most graphs. */
export function rankedPlaces(breaks: readonly Break[], codes: readonly Code[]): BreakPlace[] {
  return breakPlaces(breaks, codes).sort((a, b) => b.others.length - a.others.length);
}

/** The lines of a code at which a graph breaks: in the function itself, or, of a library's, below the program's line. */
export function brokenLines(meta: Meta, code: number): ReadonlySet<number | null> {
  const own = functionOf(meta.codes, code);
  const places = meta.breaks.flatMap((found): Place[] => (found.library ? [found, found.library] : [found]));
  return new Set(places.filter((place) => functionOf(meta.codes, place.code) === own).map((place) => place.line));
}

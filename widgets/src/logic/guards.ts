// Guards as a tree of their sources, with the outcomes of later checks.
import type { Meta } from "../schema";

export type Guard = Meta["guards"][number];

export interface Branch {
  /** The exact source, e.g. `L['self']._modules['conv']`. */
  source: string;
  /** What the program calls it, e.g. `self.conv`. */
  name: string;
  /** Its extension of the name of the branch above. */
  label: string;
  guards: Guard[];
  branches: Branch[];
}

/** The tree: what is asked of the program's values first, then the state that every version depends on. */
export function guardTree(guards: readonly Guard[]): Branch[] {
  const ambient = guards.filter(isAmbient);
  const roots = sourceTree(guards.filter((guard) => !isAmbient(guard)));
  if (ambient.length > 0) roots.push({ source: AMBIENT, name: AMBIENT, label: AMBIENT, guards: [], branches: sourceTree(ambient) });
  return roots;
}

const AMBIENT = "settings of torch, and its modules";

function sourceTree(guards: readonly Guard[]): Branch[] {
  const roots: Branch[] = [];
  const known = new Map<string, Branch>();
  for (const guard of guards) {
    const path = guard.path.length > 0 ? guard.path : [guard.source];
    let above = null as Branch | null;
    for (const [i, source] of path.entries()) {
      let here = known.get(source);
      if (!here) {
        const name = guard.names[i] ?? source;
        here = { source, name, label: added(name, above?.name ?? ""), guards: [], branches: [] };
        known.set(source, here);
        (above?.branches ?? roots).push(here);
      }
      above = here;
    }
    above?.guards.push(guard);
  }
  return roots;
}

/** The part of `name` beyond that of `base`, where it is a continuation of it. */
function added(name: string, base: string): string {
  if (name === "") return "global state";
  return base !== "" && name.startsWith(base) && /^[.[]/.test(name.slice(base.length)) ? name.slice(base.length) : name;
}

/** A branch or a guard, with its depth: the tree as a list. */
export type Row = { depth: number } & ({ branch: Branch } | { guard: Guard });

export function treeRows(branches: readonly Branch[], closed: ReadonlySet<string>, depth = 0): Row[] {
  return branches.flatMap((branch): Row[] => {
    const [only] = branch.guards;
    // Its text names the source, so a row for that would say it twice.
    if (only && branch.guards.length === 1 && branch.branches.length === 0) return [{ depth, guard: only }];
    return [
      { depth, branch },
      ...(closed.has(branch.source) ? [] : [...branch.guards.map((guard): Row => ({ depth: depth + 1, guard })), ...treeRows(branch.branches, closed, depth + 1)]),
    ];
  });
}

/** The outcome of a guard at a later call. */
export interface Outcome {
  call: number;
  held: boolean;
  seen: string;
}

/** Every later check that concerns `guard`: that it failed, or that its whole version held. */
export function outcomes(meta: Meta, guard: Guard): Outcome[] {
  const attempt = meta.attempts[guard.attempt];
  const compilation = attempt && meta.compilations[attempt.compilation];
  if (!compilation) return [];
  return meta.calls
    .filter((call) => call.code === compilation.code)
    .flatMap((call) =>
      call.checks
        .filter((check) => check.version === compilation.version)
        .flatMap((check): Outcome[] => {
          if (check.reused || check.failed === guard.id) return [{ call: call.id, held: check.reused, seen: check.seen }];
          const beside = check.failures.find((failure) => failure.guard === guard.id);
          return beside ? [{ call: call.id, held: false, seen: beside.seen }] : [];
        }),
    );
}

/** Which guards are listed: all that meet each condition that is on. */
export interface Filter {
  /** Asked for by a line of the user's own, and not for a library's. */
  mine: boolean;
  /** Failed at a later call. */
  failed: boolean;
  /** On this source, or a part of it; null for any. */
  source: string | null;
}

export const ALL: Filter = { mine: false, failed: false, source: null };

/** What every version depends on: the state of torch and its modules, which no line of the program asks about. */
const isAmbient = (guard: Guard): boolean => guard.kind === "GLOBAL_STATE" || /^G\(torch\b/.test(guard.source);

/** Whether `guard` meets `filter`; `isMine` says which codes are the user's own, `failed` has the guards that failed. */
export function listed(guard: Guard, filter: Filter, isMine: (code: number) => boolean, failed: ReadonlySet<number>): boolean {
  if (filter.mine && (guard.code === null || !isMine(guard.code) || guard.library !== null || isAmbient(guard))) return false;
  if (filter.failed && !failed.has(guard.id)) return false;
  return filter.source === null || guard.source === filter.source || guard.path.includes(filter.source);
}

/** The guards that failed at a call, as one that made its version unusable, or beside that one. */
export function failedGuards(meta: Pick<Meta, "calls">): ReadonlySet<number> {
  const found = new Set<number>();
  for (const call of meta.calls)
    for (const check of call.checks)
      for (const id of [check.failed, ...check.failures.map((failure) => failure.guard)]) if (id !== null) found.add(id);
  return found;
}

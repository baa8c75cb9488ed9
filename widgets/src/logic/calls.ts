// The Calls table: a function's calls against its compiled versions.
import type { Meta } from "../schema";

export type Call = Meta["calls"][number];
export type Check = Call["checks"][number];

/** What happened between one call and one version. */
export type Cell =
  | { what: "reused"; order: number }
  | { what: "compiled" }
  | { what: "untried" }
  /** It did not exist yet. */
  | { what: "later" }
  /** `order`: 1 for the version that was tried first, ... */
  | { what: "failed"; check: Check; order: number };

export interface CallTable {
  code: number;
  versions: number[];
  rows: { call: Call; cells: Cell[] }[];
}

/** `made` is the call that compiled the version, null where that was before the recording began. */
function cell(call: Call, version: number, made: number | null): Cell {
  const at = call.checks.findIndex((candidate) => candidate.version === version);
  const check = call.checks[at];
  if (check) return check.reused ? { what: "reused", order: at + 1 } : { what: "failed", check, order: at + 1 };
  if (call.outcome === "compiled" && call.version === version) return { what: "compiled" };
  return { what: made !== null && made > call.id ? "later" : "untried" };
}

/** One table a code object, in the order of their first calls. */
export function callTables(meta: Pick<Meta, "calls" | "compilations">): CallTable[] {
  const byCode = new Map<number, Call[]>();
  for (const call of meta.calls) {
    const known = byCode.get(call.code);
    if (known) known.push(call);
    else byCode.set(call.code, [call]);
  }
  return [...byCode].map(([code, calls]) => {
    const versions = new Set<number>();
    for (const compilation of meta.compilations) if (compilation.code === code && compilation.outcome === "compiled") versions.add(compilation.version);
    for (const call of calls) {
      if (call.version !== null) versions.add(call.version);
      for (const check of call.checks) versions.add(check.version);
    }
    const columns = [...versions].sort((a, b) => a - b);
    const made = columns.map((version) => calls.find((call) => call.outcome === "compiled" && call.version === version)?.id ?? null);
    return { code, versions: columns, rows: calls.map((call) => ({ call, cells: columns.map((version, i) => cell(call, version, made[i] ?? null)) })) };
  });
}

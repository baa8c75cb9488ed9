// The Calls table: a function's calls against its compiled versions.
import type { Meta } from "../schema";

export type Call = Meta["calls"][number];
export type Check = Call["checks"][number];

/** What happened between one call and one version. */
export type Cell =
  | { what: "reused" }
  | { what: "compiled" }
  | { what: "untried" }
  | { what: "failed"; check: Check };

export interface CallTable {
  code: number;
  versions: number[];
  rows: { call: Call; cells: Cell[] }[];
}

function cell(call: Call, version: number): Cell {
  const check = call.checks.find((candidate) => candidate.version === version);
  if (check) return check.reused ? { what: "reused" } : { what: "failed", check };
  return { what: call.outcome === "compiled" && call.version === version ? "compiled" : "untried" };
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
    return { code, versions: columns, rows: calls.map((call) => ({ call, cells: columns.map((version) => cell(call, version)) })) };
  });
}

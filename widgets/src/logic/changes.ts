// The last and the next change of a value, from what the front end has: no kernel is asked.
import { INSTR, type TrackerView } from "../schema";
import { lowerBound, type TraceIndex, upperBound } from "./trace";

/** What is watched: a variable of a frame, or a value by itself (`name` is null). */
export interface Watched {
  frame: number;
  name: string | null;
}

const BINDS = /^(STORE|DELETE)_(FAST|DEREF|NAME|GLOBAL)$/;

/** Whether `step` binds or unbinds the variable; a cell is bound by the functions inside, too. */
function binds(index: TraceIndex, step: number, { frame, name }: Watched): boolean {
  const instr = index.instrAt(step);
  if (instr[INSTR.arg] !== name || !BINDS.test(instr[INSTR.opname])) return false;
  return index.frame[step] === frame || (instr[INSTR.opname].endsWith("DEREF") && index.code(index.frameAt(step).code).cells.includes(name));
}

/** The step before `step` (or after it) that changed the value, or bound another one to the variable. `view` is the
 * value that the variable had before `step` (or after it); of a value by itself, its creation counts as well. */
export function changeOf(index: TraceIndex, watched: Watched, view: TrackerView | null, step: number, direction: "next" | "previous"): number | null {
  const back = direction === "previous";
  const changed = view?.changed ?? [];
  const inPlace = (back ? changed[lowerBound(changed, step) - 1] : changed[upperBound(changed, step)]) ?? null;
  const bound = watched.name === null ? creation(view, step, back) : binding(index, watched, step, back);
  if (inPlace === null || bound === null) return inPlace ?? bound;
  return back ? Math.max(inPlace, bound) : Math.min(inPlace, bound);
}

function creation(view: TrackerView | null, step: number, back: boolean): number | null {
  const made = view?.made_by ?? null;
  return made !== null && (back ? made < step : made > step) ? made : null;
}

function binding(index: TraceIndex, watched: Watched, step: number, back: boolean): number | null {
  const frame = index.meta.frames[watched.frame];
  if (!frame) return null;
  for (let at = back ? step - 1 : step + 1; at >= frame.first_step && at <= frame.end_step; at += back ? -1 : 1) if (binds(index, at, watched)) return at;
  return null;
}

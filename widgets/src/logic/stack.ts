// The whole call stack at a step: the calls that led to the trace, across graph breaks, and below them the frames that
// it inlined.
import type { Frame } from "../schema";
import { functionOf } from "./breaks";
import type { TraceIndex } from "./trace";

export interface StackLine {
  code: number;
  line: number | null;
  /** Where it is shown: for a caller, the last step of that line in its own trace; null where it was not recorded. */
  step: number | null;
  /** Its frame in this trace; null for a caller. */
  frame: Frame | null;
}

export function stackAt(index: TraceIndex, step: number): StackLine[] {
  const attempt = index.attemptAt(step);
  const callers = index.meta.compilations[attempt.compilation]?.callers ?? [];
  return [
    ...callers.map(({ code, line }) => ({ code, line, step: lastStepAt(index, code, line, attempt.first_step), frame: null })),
    ...index.chain(step).map((one) => ({ code: one.frame.code, line: one.line, step: one.step, frame: one.frame })),
  ];
}

/** The last step before `before` at a line of a function that was traced on its own. */
function lastStepAt(index: TraceIndex, code: number, line: number | null, before: number): number | null {
  const { codes, frames, attempts } = index.meta;
  const wanted = functionOf(codes, code);
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i] as Frame;
    if (frame.parent !== null || frame.first_step >= before || functionOf(codes, frame.code) !== wanted) continue;
    if (attempts[frame.attempt]?.outcome === "restarted") continue;
    for (let step = frame.last_step; step >= frame.first_step; step--)
      if (index.frame[step] === frame.id && index.lineAt(step) === line) return step;
  }
  return null;
}

/** The innermost line of the user's own code; else the innermost line. */
export function myLine(index: TraceIndex, stack: readonly StackLine[]): StackLine | null {
  return stack.findLast(({ code }) => index.isMine(code)) ?? stack.at(-1) ?? null;
}

/** Lines of the user's own, and runs of others between them. */
export type Folded = StackLine | StackLine[];

/** `stack` with each run of library lines in one item. */
export function foldLibraries(index: TraceIndex, stack: readonly StackLine[]): Folded[] {
  const folded: Folded[] = [];
  for (const line of stack) {
    const last = folded.at(-1);
    if (index.isMine(line.code)) folded.push(line);
    else if (Array.isArray(last)) last.push(line);
    else folded.push([line]);
  }
  return folded;
}

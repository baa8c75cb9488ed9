// Find text in a recording: instructions, source lines, functions, nodes, guards and breaks, without the kernel.
import { INSTR } from "../schema";
import type { Ground } from "./navigate";
import { breakStep, lowerBound, type TraceIndex, upperBound } from "./trace";

/** By code id: 1 for each of its instructions that holds the text, itself or in its line. */
function matchingInstructions(index: TraceIndex, matches: (text: string) => boolean): Uint8Array[] {
  return index.meta.codes.map((code) => {
    const lines = code.source.split("\n").map(matches);
    const named = matches(code.qualname);
    return Uint8Array.from(code.instructions, (instr, position) => {
      const line = instr[INSTR.line];
      const inLine = line !== null && lines[line - code.first_line] === true;
      return inLine || (named && position === 0) || matches(`${instr[INSTR.opname]} ${instr[INSTR.arg]}`) ? 1 : 0;
    });
  });
}

/** Steps whose nodes, guards, breaks or exceptions hold the text. */
function matchingEvents(index: TraceIndex, matches: (text: string) => boolean): Set<number> {
  const found = new Set<number>();
  const add = (step: number | null, ...texts: (string | null)[]): void => {
    if (step !== null && texts.some((text) => text !== null && matches(text))) found.add(step);
  };
  for (const node of index.meta.nodes) add(node.step, node.name, node.target, node.source);
  for (const guard of index.meta.guards) add(guard.step, guard.text, guard.source);
  for (const broken of index.meta.breaks) add(breakStep(broken), broken.message, broken.reason_id);
  for (const notice of index.meta.notices) add(notice.step, notice.message, notice.reason_id);
  for (const raised of index.meta.raised) add(raised.step, raised.text);
  return found;
}

/** The visible steps that hold `text` (letters' case does not matter), sorted. */
export function findSteps({ index, visible }: Ground, text: string): Uint32Array {
  const wanted = text.toLowerCase();
  const matches = (candidate: string): boolean => candidate.toLowerCase().includes(wanted);
  const instructions = matchingInstructions(index, matches);
  const codes = index.meta.frames.map((frame) => instructions[frame.code]);
  const events = matchingEvents(index, matches);
  const found: number[] = [];
  for (const [first, last] of visible.stretches)
    for (let step = first; step <= last; step++)
      if (codes[index.frame[step] as number]?.[index.instruction[step] as number] === 1 || events.has(step)) found.push(step);
  return Uint32Array.from(found);
}

/** The match after `step` (or before it), wrapping around at the end. Null when there is none. */
export function nextMatch(found: Uint32Array, step: number, direction: "next" | "previous"): number | null {
  if (found.length === 0) return null;
  const at = direction === "next" ? upperBound(found, step) : lowerBound(found, step) - 1;
  return found[(at + found.length) % found.length] ?? null;
}

/** `3 of 17` at a match, `17 found` between them. */
export function matchText(found: Uint32Array, step: number): string {
  if (found.length === 0) return "none";
  const at = lowerBound(found, step);
  return found[at] === step ? `${at + 1} of ${found.length}` : `${found.length} found`;
}

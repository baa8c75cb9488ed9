// Find text in a recording: functions, source lines, instructions, nodes, guards and breaks, without the kernel.
import { INSTR } from "../schema";
import type { Ground } from "./navigate";
import { breakStep, lowerBound, type TraceIndex, upperBound } from "./trace";

/** What is found, in the order in which it is listed. */
export const KINDS = { function: "Functions", line: "Lines", node: "Nodes", guard: "Guards", break: "Breaks" } as const;
export type Kind = keyof typeof KINDS;

/** One thing that holds the text, and the steps where it happens. */
export interface Match {
  kind: Kind;
  text: string;
  /** What else is known of it: the instruction of a line, the shape of a node. */
  note: string;
  /** The program's line, as far as it is another thing than the match. */
  code: number | null;
  line: number | null;
  /** Of the user's own code. */
  mine: boolean;
  steps: number[];
}

export interface Found {
  /** Where next and back go, sorted: one step each time a line runs. */
  steps: Uint32Array;
  matches: Match[];
}

const NONE = 0, IN_LINE = 1, IN_INSTRUCTION = 2;

/** By code and instruction: whether the text is in the instruction, in its line, or in neither. */
function matchingInstructions(index: TraceIndex, matches: (text: string) => boolean): Uint8Array[] {
  return index.meta.codes.map((code) => {
    const lines = code.source.split("\n").map(matches);
    return Uint8Array.from(code.instructions, (instr) => {
      const line = instr[INSTR.line];
      if (line !== null && lines[line - code.first_line] === true) return IN_LINE;
      return matches(`${instr[INSTR.opname]} ${instr[INSTR.arg]}`) ? IN_INSTRUCTION : NONE;
    });
  });
}

/** By code and instruction: its line; for one without, that of the last one before it that has one. */
function linesOfInstructions(index: TraceIndex): Int32Array[] {
  return index.meta.codes.map((code) => {
    let line = -1;
    return Int32Array.from(code.instructions, (instr) => (line = instr[INSTR.line] ?? line));
  });
}

/** Functions, nodes, guards and breaks that hold the text, at steps that are visible. */
function matchingThings({ index, visible }: Ground, matches: (text: string) => boolean): Match[] {
  const { meta } = index;
  const found: Match[] = [];
  const add = (kind: Kind, step: number | null, text: string, note: string, others: (string | null)[], at?: { code: number | null; line: number | null }): void => {
    if (step === null || !visible.has(step) || ![text, note, ...others].some((one) => one !== null && matches(one))) return;
    const { code, line } = at ?? { code: index.codeAt(step).id, line: index.lineAt(step) };
    found.push({ kind, text, note, code, line, mine: code !== null && index.isMine(code), steps: [step] });
  };
  const starts = new Map<number, number[]>();
  for (const frame of meta.frames) {
    if (frame.last_step < frame.first_step) continue;
    const begin = index.begin(frame);
    if (!visible.has(begin)) continue;
    const known = starts.get(frame.code);
    if (known) known.push(begin);
    else starts.set(frame.code, [begin]);
  }
  for (const [code, steps] of starts) {
    const { qualname, first_line } = index.code(code);
    if (matches(qualname)) found.push({ kind: "function", text: qualname, note: "", code, line: first_line, mine: index.isMine(code), steps });
  }
  for (const node of meta.nodes) add("node", node.step, node.name, node.op === "placeholder" ? "" : node.target, [node.source, node.label]);
  for (const guard of meta.guards) add("guard", guard.step, guard.text, "", [guard.source, ...guard.names.slice(-1)], guard);
  for (const broken of meta.breaks) add("break", breakStep(broken), broken.message, "", [broken.reason_id], broken);
  for (const notice of meta.notices) add("break", notice.step, notice.message, "", [notice.reason_id], notice);
  for (const raised of meta.raised) add("break", raised.step, raised.text, "raised", []);
  return found;
}

/** Everything in the visible steps that holds `text` (letters' case does not matter). */
export function find(ground: Ground, text: string): Found {
  const { index, visible } = ground;
  const wanted = text.toLowerCase();
  const matches = (candidate: string): boolean => candidate.toLowerCase().includes(wanted);
  const things = matchingThings(ground, matches);
  const events = new Set(things.flatMap((thing) => thing.steps));
  const holds = matchingInstructions(index, matches);
  const lines = linesOfInstructions(index);
  const codes = index.meta.frames.map((frame) => frame.code);
  const lineOf = new Int32Array(codes.length).fill(-2);
  /** By frame: 1 where its line has been found since it began to run, 2 where it is listed, too. */
  const taken = new Uint8Array(codes.length);
  const steps: number[] = [];
  const byLine = new Map<string, Match>();
  /** By code and line; another code of the same file may have the line as well. */
  const known = new Map<number, Match>();
  const { frame: frameOf, instruction: instructionOf } = index;
  for (const [first, last] of visible.stretches)
    for (let step = first; step <= last; step++) {
      const frame = frameOf[step] as number;
      const code = codes[frame] as number;
      const at = instructionOf[step] as number;
      const line = lines[code]?.[at] ?? -1;
      if (line !== lineOf[frame]) {
        lineOf[frame] = line;
        taken[frame] = 0;
      }
      const how = holds[code]?.[at] ?? NONE;
      if (taken[frame] === 0 && (how !== NONE || events.has(step))) {
        taken[frame] = 1;
        steps.push(step);
      }
      if (taken[frame] !== 2 && how !== NONE) {
        taken[frame] = 2;
        const key = code * LINES + line;
        let match = known.get(key);
        if (!match) known.set(key, (match = lineMatch(index, byLine, code, line, how === IN_INSTRUCTION ? at : null)));
        match.steps.push(step);
      }
    }
  return { steps: Uint32Array.from(steps), matches: sorted([...things, ...byLine.values()]) };
}

/** More lines than a file has. */
const LINES = 1e7;

function lineMatch(index: TraceIndex, byLine: Map<string, Match>, code: number, line: number, instruction: number | null): Match {
  const { filename, source, first_line, instructions } = index.code(code);
  const key = `${filename}:${line}`;
  let match = byLine.get(key);
  if (!match) {
    const instr = instruction === null ? undefined : instructions[instruction];
    const text = source.split("\n")[line - first_line]?.trim() ?? "";
    const note = instr ? `${instr[INSTR.opname]} ${instr[INSTR.arg]}` : "";
    match = { kind: "line", text: text || note, note: text ? note : "", code, line: line < 0 ? null : line, mine: index.isMine(code), steps: [] };
    byLine.set(key, match);
  }
  return match;
}

/** By kind; of each kind, the user's own first, then as they happen. */
function sorted(matches: Match[]): Match[] {
  const order = Object.keys(KINDS);
  return matches.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || Number(b.mine) - Number(a.mine) || (a.steps[0] ?? 0) - (b.steps[0] ?? 0));
}

/** `text` in pieces: every second one is what was searched for. */
export function marked(text: string, wanted: string): string[] {
  const [whole, part] = [text.toLowerCase(), wanted.toLowerCase()];
  // (Where a letter has another length in lower case, positions would not fit.)
  if (part === "" || whole.length !== text.length) return [text];
  const pieces: string[] = [];
  let at = 0;
  for (let next = whole.indexOf(part); next >= 0; next = whole.indexOf(part, at)) {
    pieces.push(text.slice(at, next), text.slice(next, next + part.length));
    at = next + part.length;
  }
  return [...pieces, text.slice(at)];
}

/** The match after `step` (or before it), wrapping around at the end. Null when there is none. */
export function nextMatch(found: ArrayLike<number>, step: number, direction: "next" | "previous"): number | null {
  if (found.length === 0) return null;
  const at = direction === "next" ? upperBound(found, step) : lowerBound(found, step) - 1;
  return found[(at + found.length) % found.length] ?? null;
}

/** `3 of 17` at a match, `17 found` between them. */
export function matchText(found: ArrayLike<number>, step: number): string {
  if (found.length === 0) return "none";
  const at = lowerBound(found, step);
  return found[at] === step ? `${at + 1} of ${found.length}` : `${found.length} found`;
}

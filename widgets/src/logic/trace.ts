// The recording's tables, joined: the facts of a step, without a request to the store.
import { type Attempt, type Code, type Frame, INSTR, type Instr, type Meta } from "../schema";
import { decodeU32 } from "./columns";
import { withRoles } from "./bodies";
import { breakPlaces } from "./breaks";
import { isMine } from "./mine";

/** One line of the call chain at a step, outermost first. `step` is the position of that frame. */
export interface Activation {
  frame: Frame;
  code: Code;
  step: number;
  line: number | null;
}

/** Ids by the step they belong to, with the sorted steps, for "what did this step add" and "where is the next". */
export class ByStep<Item extends { step: number | null }> {
  readonly steps: Uint32Array;
  private readonly at = new Map<number, Item[]>();

  constructor(items: readonly Item[], stepOf: (item: Item) => number | null = (item) => item.step) {
    for (const item of items) {
      const step = stepOf(item);
      if (step === null) continue;
      const there = this.at.get(step);
      if (there) there.push(item);
      else this.at.set(step, [item]);
    }
    this.steps = Uint32Array.from(this.at.keys()).sort();
  }

  get(step: number): readonly Item[] {
    return this.at.get(step) ?? [];
  }
}

export class TraceIndex {
  readonly frame: Uint32Array;
  readonly instruction: Uint32Array;
  readonly nodes: ByStep<Meta["nodes"][number]>;
  readonly guards: ByStep<Meta["guards"][number]>;
  readonly breaks: ByStep<Meta["breaks"][number]>;
  readonly effects: ByStep<Meta["side_effects"][number]>;
  /** Sorted steps where inlined frames begin: the targets of stepping into a call. */
  readonly calls: Uint32Array;
  /** Sorted first steps of bodies of operators. */
  readonly bodyStarts: Uint32Array;
  /** Sorted steps of graph breaks, one for each place of the program. */
  readonly breakPlaces: Uint32Array;
  readonly raised: ReadonlyMap<number, string>;
  readonly meta: Meta;
  private readonly begins: Uint32Array;
  private readonly depths: Uint16Array;
  private readonly ownCodes: readonly boolean[];
  private readonly ownFrames: Uint8Array;

  /** `myCode` names what counts as the user's own, besides their files. */
  constructor(meta: Meta, myCode: readonly string[] = []) {
    this.meta = meta;
    this.frame = decodeU32(meta.frame);
    this.instruction = decodeU32(meta.instruction);
    if (this.frame.length !== meta.steps || this.instruction.length !== meta.steps)
      throw new Error("the step columns do not have one entry a step");
    this.begins = decodeU32(meta.begins);
    this.nodes = new ByStep(meta.nodes);
    this.guards = new ByStep(meta.guards);
    this.breaks = new ByStep(meta.breaks, breakStep);
    this.effects = new ByStep(meta.side_effects);
    this.calls = Uint32Array.from(meta.frames.filter((f) => f.parent !== null && f.last_step >= f.first_step), (f) => this.begin(f)).sort();
    this.bodyStarts = Uint32Array.from(meta.bodies.filter((body) => body.last_step >= body.first_step), (body) => body.first_step).sort();
    const places = breakPlaces(meta.breaks, meta.codes).map(({ main }) => breakStep(main));
    this.breakPlaces = Uint32Array.from(places.filter((step) => step !== null)).sort();
    this.raised = new Map(meta.raised.map((r) => [r.step, r.text]));
    this.ownCodes = meta.codes.map((code) => isMine(code, myCode));
    this.ownFrames = Uint8Array.from(meta.frames, (frame) => (this.ownCodes[frame.code] ? 1 : 0));
    this.depths = Uint16Array.from(meta.frames, (f) => f.depth);
    this.meta = { ...meta, bodies: withRoles(meta.bodies, (step) => this.codeAt(step).first_line) };
  }

  get steps(): number {
    return this.meta.steps;
  }

  frameAt(step: number): Frame {
    return need(this.meta.frames[this.frame[step] ?? -1], "frame", step);
  }

  codeAt(step: number): Code {
    return this.code(this.frameAt(step).code);
  }

  code(id: number): Code {
    return need(this.meta.codes[id], "code", id);
  }

  instrAt(step: number): Instr {
    return need(this.codeAt(step).instructions[this.instruction[step] ?? -1], "instruction", step);
  }

  /** The line of the instruction at `step`; for one without a line, that of the last one before it that has one. */
  lineAt(step: number): number | null {
    const { instructions } = this.codeAt(step);
    for (let at = this.instruction[step] ?? -1; at >= 0; at--) {
      const line = instructions[at]?.[INSTR.line] ?? null;
      if (line !== null) return line;
    }
    return null;
  }

  /** Whether a code is the user's own. */
  isMine(code: number): boolean {
    return this.ownCodes[code] ?? false;
  }

  /** Whether a step is in a function of the user's own. */
  mineAt(step: number): boolean {
    return this.ownFrames[this.frame[step] ?? 0] === 1;
  }

  /** The first step of a frame that does something: after what CPython does at each start of a function. */
  begin({ id, first_step }: Frame): number {
    return this.begins[id] ?? first_step;
  }

  depthAt(step: number): number {
    return this.depths[this.frame[step] ?? 0] ?? 0;
  }

  attemptAt(step: number): Attempt {
    return need(this.meta.attempts[this.frameAt(step).attempt], "attempt", step);
  }

  /** The bodies of operators that were being traced at `step`, outermost first. */
  bodiesAt(step: number): Meta["bodies"] {
    if (this.meta.bodies.length === 0) return [];
    const attempt = this.attemptAt(step).id;
    return this.meta.bodies.filter((body) => body.attempt === attempt && body.first_step <= step && step <= body.last_step);
  }

  /** The call chain at `step`, outermost first. */
  chain(step: number): Activation[] {
    const found: Activation[] = [];
    let at: number | null = step;
    let frame: Frame | undefined = this.frameAt(step);
    while (frame) {
      const here: number = at ?? frame.first_step;
      found.push({ frame, code: this.code(frame.code), step: here, line: this.steps > here ? this.lineAt(here) : null });
      at = frame.call_step;
      frame = frame.parent === null ? undefined : this.meta.frames[frame.parent];
    }
    return found.reverse();
  }
}

function need<T>(value: T | undefined, what: string, at: number): T {
  if (value === undefined) throw new Error(`the recording has no ${what} for ${at}`);
  return value;
}

/** The position in sorted `values` of the first one greater than `value`. */
export function upperBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position in sorted `values` of the first one not less than `value`. */
export function lowerBound(values: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where a break is shown: in the attempt that was kept, if it got there. */
export function breakStep(found: Pick<Meta["breaks"][number], "step" | "final_step">): number | null {
  return found.final_step ?? found.step;
}

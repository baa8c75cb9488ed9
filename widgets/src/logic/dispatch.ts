// Steps of the dispatcher: runs, calls in calls, and the way through them.
import type { Dispatcher, DispatchRun, DispatchStep } from "../schema";
import { shapeText } from "./graph";

/** The steps of a run, without those inside folded calls. */
export function shownSteps({ steps: all }: Dispatcher, run: DispatchRun, folded: ReadonlySet<number>): DispatchStep[] {
  const shown: DispatchStep[] = [];
  for (let at = run.first_step; at <= run.last_step; at++) {
    const step = all[at];
    // The gradient's steps follow those of its own run; a run has no others between its own.
    if (!step || step.run !== run.id) continue;
    shown.push(step);
    if (folded.has(step.id)) at = step.last_step;
  }
  return shown;
}

/** The runs under a node of a captured graph: forward, and backward if a gradient flows through it. */
export function under({ runs }: Dispatcher, node: number): DispatchRun[] {
  return runs.filter((run) => run.node === node);
}

/** Why there is no step to show in one direction. */
export function nothingUnder(runs: readonly DispatchRun[], direction: string): string {
  const run = runs.find((one) => one.direction === direction) ?? runs.find((one) => one.error !== "");
  if (run?.error) return `${title(run)} could not be traced: ${run.error}`;
  return run ? `${title(run)} calls no operator.` : `No gradient flows through ${runs[0]?.label ?? "this node"}.`;
}

/** The steps around one: the next and the previous, and those that skip what is inside a call. */
export function ways(all: readonly DispatchStep[], at: number): Record<"next" | "previous" | "over" | "out", number | null> {
  const step = all[at];
  const there = (id: number): number | null => (all[id] ? id : null);
  return { next: there(at + 1), previous: there(at - 1), over: step ? there(step.last_step + 1) : null, out: step?.parent ?? null };
}

export function title(run: DispatchRun): string {
  return run.direction === "" ? run.label : `${run.label}, ${run.direction}`;
}

const DONE: Readonly<Record<string, string>> = { decompose: "decomposed", fold: "value known", emit: "node", leave: "left alone" };

/** What became of a call, in a word or two. */
export function outcome(step: DispatchStep): string {
  if (step.error !== "") return "raised";
  return step.decisions.map(([decision]) => DONE[decision] ?? decision).join(", ");
}

export function fakeTexts(dispatcher: Dispatcher, numbers: readonly number[]): string[] {
  return numbers.flatMap((number) => {
    const fake = dispatcher.fakes[number];
    return fake ? [fake.type.startsWith("Sym") ? (fake.shape[0] ?? fake.type) : shapeText(fake)] : [];
  });
}

/** The modes at a step, from the top to the bottom. */
export function modesAt(dispatcher: Dispatcher, step: DispatchStep): readonly string[] {
  return dispatcher.stacks[step.modes] ?? [];
}

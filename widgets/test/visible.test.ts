import { describe, expect, it } from "vitest";
import { VisibleSteps } from "../src/logic/visible";
import { meta } from "./fixture";

const attempt = (first: number, last: number, outcome: string) => ({
  id: 0, compilation: 0, number: 1, first_step: first, last_step: last, outcome, message: "",
});

/** Restarted: 0-1, 4-5, 8-9 of 10 steps. */
const gaps = VisibleSteps.of(
  { steps: 10, attempts: [attempt(0, 1, "restarted"), attempt(2, 3, "compiled"), attempt(4, 5, "restarted"), attempt(6, 7, "compiled"), attempt(8, 9, "restarted")] },
  false,
);

describe("visible steps", () => {
  it("are those of attempts that were kept", () => {
    expect(gaps.stretches).toEqual([[2, 3], [6, 7]]);
    expect(Array.from({ length: 10 }, (_, step) => gaps.has(step))).toEqual([false, false, true, true, false, false, true, true, false, false]);
    expect([gaps.count, gaps.first, gaps.last]).toEqual([4, 2, 7]);
  });

  it("are walked across what is hidden, and end", () => {
    expect([2, 3, 6, 7].map((step) => gaps.next(step))).toEqual([3, 6, 7, null]);
    expect([2, 3, 6, 7].map((step) => gaps.previous(step))).toEqual([null, 2, 3, 6]);
    expect([gaps.next(0), gaps.previous(9), gaps.next(4), gaps.previous(5)]).toEqual([2, 7, 6, 3]);
  });

  it("clamp any number to a step", () => {
    expect([-5, 0, 2.7, 4, 9, 1e9, Number.NaN].map((step) => gaps.clamp(step))).toEqual([2, 2, 2, 6, 7, 7, 2]);
    expect(VisibleSteps.of({ steps: 0, attempts: [] }, false).clamp(3)).toBeNull();
  });

  it("count what comes before, and find it again", () => {
    expect([2, 3, 6, 7].map((step) => gaps.ordinal(step))).toEqual([0, 1, 2, 3]);
    expect([0, 1, 2, 3, 99, -1].map((ordinal) => gaps.at_ordinal(ordinal))).toEqual([2, 3, 6, 7, 7, 2]);
  });

  it("are all steps when failed attempts are shown", () => {
    expect(VisibleSteps.of(meta(), true).stretches).toEqual([[0, 12]]);
    expect(VisibleSteps.of(meta(), false).stretches).toEqual([[2, 12]]);
  });
});

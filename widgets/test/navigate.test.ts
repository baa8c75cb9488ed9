import { describe, expect, it } from "vitest";
import { type By, caller, into, out, over, WAYS } from "../src/logic/navigate";
import { start } from "../src/logic/navigate";
import { isMine } from "../src/logic/mine";
import { ground, libraryGround } from "./fixture";

/** Where repeated stepping leads, until there is nothing further. */
function walk(way: By, from: number, direction: "next" | "previous"): number[] {
  const found: number[] = [];
  for (let at = WAYS[way][direction](ground(), from); at !== null; at = WAYS[way][direction](ground(), at)) found.push(at);
  return found;
}

describe("stepping", () => {
  it("by instruction leaves out attempts that were given up, unless they are shown", () => {
    expect(walk("instruction", 2, "next")).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(walk("instruction", 4, "previous")).toEqual([3, 2]);
    expect(WAYS.instruction.previous(ground(true), 2)).toBe(1);
  });

  it("by line goes over calls and out of functions that end", () => {
    expect(walk("line", 2, "next")).toEqual([3, 11]);
    expect(walk("line", 5, "next")).toEqual([6, 11]);
    expect(walk("line", 9, "next")).toEqual([10, 11]);
  });

  it("by line leaves out what CPython does at each start of a function", () => {
    const given = ground(true);
    // The attempt that was given up ends at step 1; the next one begins with RESUME at step 2.
    expect(WAYS.line.next(given, 1)).toBe(3);
    expect(WAYS.line.previous(given, 3)).not.toBe(2);
    expect(WAYS.instruction.next(given, 1)).toBe(2);
  });

  it("back by line goes to where lines begin", () => {
    expect(walk("line", 12, "previous")).toEqual([11, 3]);
    expect(WAYS.line.previous(ground(), 4)).toBe(3);
    expect(WAYS.line.previous(ground(), 10)).toBe(6);
  });

  it("by call, node, guard and break goes to the next step of that kind", () => {
    expect(walk("call", 2, "next")).toEqual([5, 8]);
    expect(walk("node", 2, "next")).toEqual([6, 9]);
    expect(walk("node", 12, "previous")).toEqual([9, 6]);
    expect(walk("guard", 2, "next")).toEqual([4]);
    expect(walk("break", 2, "next")).toEqual([12]);
    expect(walk("break", 12, "previous")).toEqual([]);
  });

  it("into goes to the next call of this very function", () => {
    expect(into(ground(), 2)).toBe(5);
    expect(into(ground(), 5)).toBe(8);
    expect(into(ground(), 8)).toBeNull();
    expect(into(ground(), 11)).toBeNull();
  });

  it("over stays in this function, out leaves it, caller goes back to its call", () => {
    expect(over(ground(), 4)).toBe(11);
    expect(over(ground(), 9)).toBe(10);
    expect(out(ground(), 8)).toBe(10);
    expect(out(ground(), 5)).toBe(11);
    expect(out(ground(), 3)).toBeNull();
    expect(caller(ground(), 9)).toBe(7);
    expect(caller(ground(), 3)).toBeNull();
  });
});

describe("just my code", () => {
  // Steps 5-7 and 10 are in the library's helper, 8-9 in the function of the user's that it calls.
  const walk = (way: By, from: number, mine = true): number[] => {
    const found: number[] = [];
    const on = libraryGround(mine);
    for (let at = WAYS[way].next(on, from); at !== null; at = WAYS[way].next(on, at)) found.push(at);
    return found;
  };

  it("steps over libraries, and stops where they call the user's code", () => {
    expect(walk("instruction", 2)).toEqual([3, 4, 8, 9, 11, 12]);
    expect(walk("call", 2)).toEqual([8]);
    expect(walk("line", 2)).toEqual([3, 11]);
    expect(walk("line", 8)).toEqual([11]);
    expect(into(libraryGround(true), 4)).toBe(8);
    expect(out(libraryGround(true), 9)).toBe(11);
    expect(caller(libraryGround(true), 9)).toBe(4);
    expect(walk("node", 2)).toEqual([6, 9]);
  });

  it("stops everywhere when it is off", () => {
    expect(walk("call", 2, false)).toEqual([5, 8]);
    expect(into(libraryGround(false), 4)).toBe(5);
    expect(out(libraryGround(false), 9)).toBe(10);
    expect(caller(libraryGround(false), 9)).toBe(7);
  });

  it("counts what the user adds", () => {
    expect(WAYS.call.next(libraryGround(true, ["lib"]), 2)).toBe(5);
    const code = (filename: string) => ({ owner: "package", filename });
    expect(isMine(code("/site-packages/timm/models/vit.py"), ["timm"])).toBe(true);
    expect(isMine(code("/site-packages/timm/models/vit.py"), ["timm.models.vit"])).toBe(true);
    expect(isMine(code("/site-packages/timm_extra/vit.py"), ["timm"])).toBe(false);
    expect(isMine(code("C:\\lib\\layers.py"), ["layers.py"])).toBe(true);
    expect(isMine(code("/x/y.py"), [""])).toBe(false);
  });

  it("starts after RESUME in the user's code", () => {
    expect(start(libraryGround(true))).toBe(3);
    expect(start(libraryGround(false))).toBe(2);
  });
});

// Moving through a trace: history, address, sizes, the pane alone, the timeline, and what keys do where.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { followAddress, stepIn } from "../src/address";
import { History } from "../src/logic/history";
import { markNear, moved, picture, showing, wholeRange, zoomed } from "../src/logic/timeline";
import { TraceIndex } from "../src/logic/trace";
import { VisibleSteps } from "../src/logic/visible";
import { TABS } from "../src/model";
import { DEFAULT, rememberedSizes } from "../src/view/layout";
import { settle, Shown } from "./explorer";
import { guard, meta, u32 } from "./fixture";

let shown: Shown;
beforeEach(async () => {
  localStorage.clear();
  location.hash = "";
  shown = await Shown.of();
});
afterEach(() => shown.remove());
const position = (): number => shown.model.position.value;

describe("history", () => {
  it("takes a run of steps, or a drag, as one place to come back to", () => {
    const history = new History();
    history.leave(1, "jump");
    for (const from of [10, 11, 12]) history.leave(from, "step");
    for (const from of [13, 50, 60]) history.leave(from, "drag");
    expect([history.back(70), history.back(13), history.back(10), history.back(1)]).toEqual([13, 10, 1, null]);
    expect([history.forward(1), history.forward(10)]).toEqual([10, 13]);
    history.leave(13, "jump");
    expect(history.canGoForward).toBe(false);
  });

  it("goes back and forward by Alt and the arrows, and by its buttons", async () => {
    shown.model.go(12);
    shown.model.go(6);
    expect(await shown.press("ArrowLeft", { altKey: true })).toBe(true);
    expect(position()).toBe(12);
    shown.part("back")?.click();
    expect(position()).toBe(3);
    await settle();
    expect((shown.part("back") as HTMLButtonElement).disabled).toBe(true);
    await shown.press("ArrowRight", { altKey: true });
    expect(position()).toBe(12);
    shown.part("forward")?.click();
    expect(position()).toBe(6);
  });
});

describe("the address of a page", () => {
  it("names a step, or none", () => {
    expect([stepIn("#step-57"), stepIn("#steps"), stepIn("")]).toEqual([57, null, null]);
  });

  it("follows the position, and is followed", async () => {
    const stop = followAddress(shown.model);
    expect(location.hash).toBe("");
    shown.model.go(6);
    await settle(260);
    expect(location.hash).toBe("#step-6");
    location.hash = "#step-9";
    window.dispatchEvent(new Event("hashchange"));
    expect(position()).toBe(9);
    stop();
    shown.model.go(4);
    await settle(260);
    expect(location.hash).toBe("#step-9");
  });
});

describe("sizes", () => {
  it("are moved by the arrows, which do not step, and remembered for the next explorer", async () => {
    const at = position();
    const line = shown.part("splitter-values");
    await shown.press("ArrowLeft", {}, line);
    expect(position()).toBe(at);
    expect(rememberedSizes().values).toBeCloseTo(DEFAULT.values + 0.02);
    const other = await Shown.of();
    expect(other.part("explorer")?.style.getPropertyValue("--tw-values")).toBe("35.00%");
    line?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    expect(rememberedSizes()).toEqual(DEFAULT);
    other.remove();
  });

  it("that make no sense are not used", () => {
    localStorage.setItem("tracewalk.layout", '{"frames": 7, "values": "wide", "main": null}');
    expect(rememberedSizes()).toEqual({ ...DEFAULT, frames: 0.4 });
    localStorage.setItem("tracewalk.layout", "not JSON");
    expect(rememberedSizes()).toEqual(DEFAULT);
  });
});

it("the pane can have all the room, and gives it back", async () => {
  shown.part("maximise")?.click();
  await settle();
  expect(shown.all(".tw-maximised").length).toBe(1);
  expect(shown.part("splitter-main")).toBeNull();
  await shown.press("x");
  expect(shown.all(".tw-maximised").length).toBe(0);
});

it("keys go to the panes beside, also beyond the ninth", async () => {
  shown.model.tab.value = TABS[8] as (typeof TABS)[number];
  await shown.press("]");
  expect(shown.model.tab.value).toBe(TABS[9]);
  await shown.press("[");
  await shown.press("[");
  expect(shown.model.tab.value).toBe(TABS[7]);
});

it("the bytecode is shown and hidden by a key", async () => {
  await shown.press("y");
  expect(shown.part("bytecode")).not.toBeNull();
  await shown.press("y");
  expect(shown.part("bytecode")).toBeNull();
});

describe("the timeline", () => {
  const index = new TraceIndex(meta());
  const kept = VisibleSteps.of(meta(), false);
  const all = VisibleSteps.of(meta(), true);

  it("zooms around a place, and out to all", () => {
    expect(zoomed(wholeRange(1000), 1000, 0.25, 0.5)).toEqual({ from: 125, to: 625 });
    expect(zoomed({ from: 125, to: 625 }, 1000, 0.5, 4)).toBeNull();
    expect(zoomed({ from: 0, to: 22 }, 1000, 0, 0.1)).toEqual({ from: 0, to: 20 });
  });

  it("pans as far as there are steps, and keeps the position in sight", () => {
    expect(moved({ from: 100, to: 200 }, 1000, 950)).toEqual({ from: 900, to: 1000 });
    expect(moved({ from: 100, to: 200 }, 1000, -500)).toEqual({ from: 0, to: 100 });
    expect(showing({ from: 100, to: 200 }, 1000, 150)).toEqual({ from: 100, to: 200 });
    expect(showing({ from: 100, to: 200 }, 1000, 200)).toEqual({ from: 125, to: 225 });
    expect(showing({ from: 100, to: 200 }, 1000, 40)).toEqual({ from: 15, to: 115 });
  });

  it("shows a part as it shows all", () => {
    const part = picture(index, kept, 11, { from: 3, to: 7 });
    expect([...part.depth]).toEqual([1, 1, 1, 2]);
    expect([...part.marks.node]).toEqual([0, 1, 0, 0]);
  });

  it("has a band for each version, and says which attempts were given up", () => {
    expect(picture(index, kept, 11).bands).toEqual([{ from: 0, to: 1, attempt: 1, failed: false }]);
    expect(picture(index, all, 13).bands).toEqual([
      { from: 0, to: 2 / 13, attempt: 0, failed: true },
      { from: 2 / 13, to: 1, attempt: 1, failed: false },
    ]);
  });

  it("is hit at the mark that is nearest, and nowhere else", () => {
    const steps = index.nodes.steps; // 6 and 9: ordinals 4 and 7
    expect(markNear(steps, kept, 4.9, 1)).toBe(6);
    expect(markNear(steps, kept, 7.2, 1)).toBe(9);
    expect(markNear(steps, kept, 2, 1)).toBeNull();
  });

  it("is zoomed by keys and buttons", async () => {
    shown.model.range.value = null;
    expect((shown.part("zoomOut") as HTMLButtonElement).disabled).toBe(true);
    const steps = 1000;
    shown.remove();
    shown = await Shown.of({ ...meta(), steps, frame: u32(new Array<number>(steps).fill(1)), instruction: u32(new Array<number>(steps).fill(1)), attempts: [{ ...meta().attempts[1]!, id: 0, first_step: 0, last_step: 999 }, { ...meta().attempts[1]!, first_step: 0, last_step: 999 }], breaks: [], nodes: [], guards: [], raised: [], side_effects: [], frames: meta().frames.slice(0, 2).map((frame) => ({ ...frame, first_step: 0, last_step: 999, end_step: 999 })) });
    shown.model.go(500);
    await shown.press("+");
    expect(shown.model.range.value).toEqual({ from: 250, to: 750 });
    shown.part("zoomOut")?.click();
    expect(shown.model.range.value).toBeNull();
  });
});

describe("what is said", () => {
  it("tells in a given-up attempt where it is given up", async () => {
    shown.model.go(0);
    await settle();
    expect(shown.part("given-up")?.textContent?.replace(/\s+/g, " ").trim()).toBe("given up at step 1");
    shown.part("given-up")?.click();
    expect(position()).toBe(1);
  });

  it("has no backticks where names are shown", async () => {
    shown.remove();
    shown = await Shown.of({ ...meta(), guards: [{ ...guard(0, ["`self.stem(x)`, line 24"]), text: "`self.stem(x)`, line 24 is a tensor" }] });
    shown.model.tab.value = "guards";
    await settle();
    expect(shown.part("pane")?.textContent).toContain("self.stem(x), line 24");
    expect(shown.part("pane")?.textContent).not.toContain("`");
  });
});

describe("what a screen reader gets", () => {
  it("are names whose words stand apart", async () => {
    shown.model.tab.value = "guards";
    await settle();
    const joined = shown.all("button").filter((button) => !button.hasAttribute("aria-label")).flatMap((button) =>
      [...button.children].flatMap((child) => {
        const next = child.nextSibling;
        return child.textContent && next instanceof HTMLElement && next.textContent && !next.matches(".tw-block, .tw-count") ? [button.outerHTML] : [];
      }),
    );
    expect(joined).toEqual([]);
  });

  it("are ids that two explorers do not share, and no application that hides them", async () => {
    const other = await Shown.of();
    const ids = [...shown.all("[id]"), ...other.all("[id]")].map((element) => element.id);
    expect(ids.length).toBeGreaterThan(TABS.length);
    expect(new Set(ids).size).toBe(ids.length);
    expect(shown.part("explorer")?.getAttribute("role")).toBe("region");
    other.remove();
  });
});

describe("rows", () => {
  it("of the source and the bytecode are gone by arrow keys, and Enter goes where one ran", async () => {
    const source = shown.part("source");
    expect(source?.tabIndex).toBe(0);
    await shown.press("ArrowDown", {}, source);
    expect(source?.dataset["cursor"]).toBe("1");
    await shown.press("ArrowDown", {}, source);
    expect(position()).toBe(3);
    await shown.press("Enter", {}, source);
    expect(position()).toBe(11);
    await shown.press("y");
    const bytecode = shown.part("bytecode");
    await shown.press("ArrowUp", {}, bytecode);
    await shown.press("ArrowUp", {}, bytecode);
    await shown.press("Enter", {}, bytecode);
    expect(position()).not.toBe(11);
  });

  it("of another version's guards are not faded, and the one picked is told from those of the step", async () => {
    const [one, two] = [guard(0, ["L['x']"]), { ...guard(1, ["L['x']"], 1), attempt: 0 }];
    shown.remove();
    shown = await Shown.of({ ...meta(), guards: [one, two] });
    shown.model.go(3);
    shown.model.openGuard(1);
    await settle();
    const rows = shown.all('[data-testid="guard"]');
    expect(rows.map((row) => row.className)).toEqual(["tw-guard tw-picked"]);
  });
});

describe("lines", () => {
  it("a second click on a line's number goes to the next time it runs, not to its next instruction", async () => {
    shown.model.go(5);
    await settle();
    const number = (): HTMLElement | undefined => shown.all('[data-line="12"] .tw-number')[0];
    number()?.click();
    await settle();
    expect(position()).toBe(6);
    number()?.click();
    expect(position()).toBe(6);
  });

  it("a cell of one line is not over after one press", async () => {
    const made = meta();
    const [code] = made.codes;
    if (!code) throw new Error();
    for (const instr of code.instructions) [instr[4], instr[5]] = [2, 2];
    shown.remove();
    shown = await Shown.of(made);
    expect(position()).toBe(3);
    await shown.press("n");
    expect(position()).toBe(5);
  });
});

it("arrows on a focused tab change the pane and do not step", async () => {
  const at = position();
  await shown.press("ArrowRight", {}, shown.part("tab-overview"));
  expect([shown.model.tab.value, position()]).toEqual([TABS[1], at]);
});

it("Ctrl+S is left to the notebook", async () => {
  expect(await shown.press("s", { ctrlKey: true })).toBe(false);
});

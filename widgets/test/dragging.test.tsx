// What makes a step cheap: nothing is requested that is only passed over, and long lists are made where they are seen.
import { afterEach, describe, expect, it } from "vitest";
import { measured } from "../src/view/measure";
import { FixedStore, settle, Shown } from "./explorer";
import { guard, meta } from "./fixture";

let shown: Shown;
afterEach(() => shown.remove());

describe("a drag", () => {
  it("requests what it rests on, and nothing that it passes over", async () => {
    const store = new FixedStore();
    shown = await Shown.of({ ...meta(), window: 1 }, store);
    await settle(400);
    store.asked = [];
    for (const step of [6, 8, 10, 12]) shown.model.go(step);
    await settle();
    expect(store.asked).toEqual(["window 6"]);
    await settle(250);
    expect(store.asked).toContain("window 12");
    expect(store.asked).not.toContain("window 8");
    expect(store.asked).not.toContain("window 10");
  });

  it("is not what steps from one to the next are", async () => {
    const store = new FixedStore();
    shown = await Shown.of({ ...meta(), window: 1 }, store);
    await settle(400);
    store.asked = [];
    for (const step of [4, 5, 6]) shown.model.go(step);
    await settle();
    expect(store.asked).toEqual(["window 5", "window 6"]);
  });
});

it("a list of thousands of guards is made where it is seen", async () => {
  const guards = Array.from({ length: 3000 }, (_, i) => guard(i, [`L['x${i}']`]));
  shown = await Shown.of({ ...meta(), guards });
  shown.model.tab.value = "guards";
  await settle();
  expect(shown.all('[data-testid="guard"]').length).toBeLessThan(200);
  await settle(900);
  expect(shown.all('[data-testid="guard"]').length).toBe(320);
  shown.model.openGuard(2500);
  await settle();
  expect(shown.all('[data-testid="guard"].tw-picked').map((row) => row.textContent)).toEqual([expect.stringContaining("guard 2500")]);
});

it("what arrives together is shown at once, and neighbours that arrive disturb nothing", async () => {
  shown = await Shown.of();
  await settle(400);
  let drawn = 0;
  const watch = new MutationObserver(() => drawn++);
  watch.observe(shown.place, { subtree: true, childList: true, characterData: true, attributes: true });
  await settle(300);
  expect(drawn).toBe(0);
  shown.model.go(9);
  await settle(120);
  expect(shown.part("sentence")?.textContent).toBe("step 9 did it.");
  drawn = 0;
  await settle(400);
  expect(drawn).toBe(0);
  watch.disconnect();
});

describe("the pane", () => {
  it("follows steps and drags once source and values are shown, and links at once", async () => {
    shown = await Shown.of();
    const { model } = shown;
    const before = model.position.value;
    model.go(6, "step");
    expect([model.position.value, model.paneAt.value]).toEqual([6, before]);
    await settle(80);
    expect(model.paneAt.value).toBe(6);
    for (const step of [7, 8, 9]) model.go(step, "drag");
    expect(model.paneAt.value).toBe(6);
    await settle(80);
    expect(model.paneAt.value).toBe(9);
    model.go(4);
    expect(model.paneAt.value).toBe(4);
  });
});

it("all is read of the layout before anything is written", async () => {
  const log: string[] = [];
  const one = (name: string) => (): (() => void) => {
    log.push(`read ${name}`);
    return () => log.push(`write ${name}`);
  };
  measured(one("a"));
  measured(() => undefined);
  measured(one("b"));
  expect(log).toEqual([]);
  await settle(0);
  expect(log).toEqual(["read a", "read b", "write a", "write b"]);
});

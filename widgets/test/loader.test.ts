import { afterEach, describe, expect, it, vi } from "vitest";
import loader from "../src/loader";
import { type FrontEnd, frontEnds } from "../src/page";
import type { WidgetModel } from "../src/widget";

type Sent = { id: string; ask: string };

/** A widget of the build, whose kernel never answers. */
function widget(build: string): WidgetModel & { sent: Sent[] } {
  const sent: Sent[] = [];
  return { sent, get: () => build, send: (content: Sent) => sent.push(content), on() {}, off() {} } as unknown as WidgetModel & { sent: Sent[] };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

afterEach(() => frontEnds().clear());

describe("the widget's own module", () => {
  it("asks the kernel for the front end once, for all widgets of a page", async () => {
    const [one, other] = [widget("a"), widget("a")];
    loader.initialize({ model: one });
    loader.initialize({ model: other });
    await settled();
    expect(one.sent).toEqual([{ id: "front-end", ask: "front-end", index: 0 }]);
    expect(other.sent).toEqual([]);
  });

  it("asks its own kernel where another's does not answer", async () => {
    vi.useFakeTimers();
    const [one, other] = [widget("a"), widget("a")];
    loader.initialize({ model: one });
    loader.initialize({ model: other });
    await vi.advanceTimersByTimeAsync(3500);
    expect(other.sent.length).toBe(1);
    vi.useRealTimers();
  });

  it("uses the front end of its own build, and undoes what it began", async () => {
    const undone: string[] = [];
    const app = (name: string): FrontEnd => ({ attach: () => () => undone.push(name), render: () => () => undone.push(`${name}'s view`) });
    for (const name of ["a", "b"]) frontEnds().set(name, Promise.resolve(app(name)));
    const model = widget("b");
    const stops = [loader.initialize({ model }), loader.render({ model, el: document.createElement("div") })];
    await settled();
    for (const stop of stops) stop();
    expect(undone).toEqual(["b", "b's view"]);
    expect(model.sent).toEqual([]);
  });

  it("says in an empty view that the kernel has not answered", async () => {
    vi.useFakeTimers();
    const el = document.createElement("div");
    loader.render({ model: widget("a"), el });
    await vi.advanceTimersByTimeAsync(2000);
    expect(el.textContent).toContain("run the cell again");
    vi.useRealTimers();
  });
});

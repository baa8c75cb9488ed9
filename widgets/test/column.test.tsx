// A graph drawn where no Graphviz is.
import { render } from "preact";
import { afterEach, describe, expect, it } from "vitest";
import { columnLayout } from "../src/logic/column";
import * as all from "../src/panes";
import { panes } from "../src/view/panes/coming";
import { settle, Shown } from "./explorer";

const item = (id: number, inputs: number[], name = `n${id}`) => ({ id, inputs, lines: [name, "f32[3]"] as [string, string] });

describe("boxes one below the other", () => {
  it("stand in the order of the graph, none over another", () => {
    const { boxes, width, height } = columnLayout([item(4, []), item(7, [4]), item(9, [4, 7], "a_much_longer_name")]);
    expect(boxes.map((box) => box.node)).toEqual([4, 7, 9]);
    for (let i = 1; i < boxes.length; i++) expect(boxes[i]!.y - boxes[i]!.height / 2).toBeGreaterThan(boxes[i - 1]!.y + boxes[i - 1]!.height / 2);
    for (const box of boxes) {
      expect(box.x - box.width / 2).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width / 2).toBeLessThanOrEqual(width);
      expect(box.y + box.height / 2).toBeLessThanOrEqual(height);
    }
  });

  it("are joined once each, whatever a node uses twice or that is not drawn", () => {
    const { edges } = columnLayout([item(0, []), item(1, [0, 0, 99]), item(2, [0, 1])]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([[0, 1], [0, 2], [1, 2]]);
  });
});

describe("the graph pane without Graphviz", () => {
  let shown: Shown;
  afterEach(() => {
    shown.remove();
    panes.value = { value: all };
  });

  it("draws the boxes, says why so, and a box leads to its node", async () => {
    panes.value = { error: "it is not part of this file, and comes from the kernel. Run the cell again." };
    shown = await Shown.of();
    shown.model.openNode(0, true);
    await settle();
    expect(shown.part("drawn-so")?.textContent).toContain("comes from the kernel. Run the cell again.");
    const boxes = shown.all('[data-testid="node"]');
    expect(boxes.map((box) => box.dataset["node"])).toEqual(shown.model.meta.nodes.filter((node) => node.id < boxes.length).map((node) => node.name));
    boxes[1]?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(shown.model.node.value).toBe(1);
    render(null, shown.place);
  });
});

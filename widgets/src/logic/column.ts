// A layout that needs no Graphviz: boxes one below the other.
import type { Item } from "./folds";
import type { Layout } from "./graph";

const ROW = 50;
const HEIGHT = 36;
const CHARACTER = 6.7;
const MARGIN = 8;

/** Boxes in the order given, as wide as the widest; edges are arcs at their right, further out the further they reach. */
export function columnLayout(items: readonly Pick<Item, "id" | "inputs" | "lines">[]): Layout {
  const rows = new Map(items.map((item, i) => [item.id, i]));
  const width = Math.max(4, ...items.flatMap((item) => item.lines.map((line) => line.length))) * CHARACTER + 18;
  const right = MARGIN + width;
  const middle = (row: number): number => MARGIN + row * ROW + HEIGHT / 2;
  let widest = 0;
  const edges = items.flatMap((item, to) =>
    [...new Set(item.inputs)].flatMap((id) => {
      const from = rows.get(id);
      if (from === undefined || from >= to) return [];
      const [start, end] = [middle(from), middle(to)];
      if (to === from + 1) return [{ from: id, to: item.id, path: `M${right - width / 2} ${start + HEIGHT / 2}V${end - HEIGHT / 2}` }];
      const reach = 16 + 14 * Math.sqrt(to - from);
      widest = Math.max(widest, reach);
      return [{ from: id, to: item.id, path: `M${right} ${start + 6}C${right + reach} ${start + 6} ${right + reach} ${end - 6} ${right} ${end - 6}` }];
    }),
  );
  return {
    width: right + widest + MARGIN,
    height: 2 * MARGIN + items.length * ROW,
    boxes: items.map((item, row) => ({ node: item.id, x: MARGIN + width / 2, y: middle(row), width, height: HEIGHT })),
    frames: [],
    edges,
  };
}

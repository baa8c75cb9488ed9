// The box that an arrow key leads to from another box of a drawing, so that one Tab stop reaches them all.

interface Box {
  id: number;
  inputs: readonly number[];
}

/** Up: to an input; down: to what uses it; left and right: in the graph's order. Null for other keys, and at the ends. */
export function boxAfter(boxes: readonly Box[], from: number, key: string): number | null {
  const at = boxes.findIndex((box) => box.id === from);
  const box = boxes[at];
  if (!box) return null;
  const shown = (id: number): boolean => boxes.some((other) => other.id === id);
  switch (key) {
    case "ArrowRight":
      return boxes[at + 1]?.id ?? null;
    case "ArrowLeft":
      return boxes[at - 1]?.id ?? null;
    case "ArrowUp":
      return box.inputs.find(shown) ?? null;
    case "ArrowDown":
      return boxes.find((other) => other.inputs.includes(from))?.id ?? null;
    case "Home":
      return boxes[0]?.id ?? null;
    case "End":
      return boxes.at(-1)?.id ?? null;
    default:
      return null;
  }
}

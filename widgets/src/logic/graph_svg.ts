// A laid-out graph as the text of an SVG file that stands alone: light, with its colours inside.
import type { Cluster } from "./bodies";
import { type Item, kindOf } from "./folds";
import type { Box, Layout } from "./graph";

const MARGIN = 8;
const FILLS: Record<string, string> = { placeholder: "#ffffff", get_attr: "#ffffff", module: "#e3eefb", body: "#e2f3f2" };
const STROKES: Record<string, string> = { module: "#0b62c4", body: "#0e7c7b" };
const FONT = "ui-monospace, Menlo, Consolas, monospace";

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const round = (number: number): number => Math.round(number * 10) / 10;

function boxText(at: Box, item: Item): string {
  const kind = kindOf(item);
  const dashed = kind === "placeholder" || kind === "get_attr" ? ' stroke-dasharray="3 2"' : "";
  const [name, what] = item.lines;
  const middle = round(at.x);
  const top = at.y - at.height / 2;
  const line = (text: string, y: number, rest: string): string => `<text x="${middle}" y="${round(top + y)}" text-anchor="middle" ${rest}>${escaped(text)}</text>`;
  return [
    `<rect x="${round(at.x - at.width / 2)}" y="${round(top)}" width="${round(at.width)}" height="${round(at.height)}" rx="4" fill="${FILLS[kind] ?? "#f4f5f7"}" stroke="${STROKES[kind] ?? "#8b97a8"}"${dashed}/>`,
    line(name, what === "" ? 22 : 15, 'font-size="11"'),
    ...(what === "" ? [] : [line(what, 28, 'font-size="10" fill="#646b76"')]),
  ].join("");
}

function frameText(at: Box, title: string): string {
  const [x, y] = [round(at.x - at.width / 2), round(at.y - at.height / 2)];
  return `<rect x="${x}" y="${y}" width="${round(at.width)}" height="${round(at.height)}" rx="6" fill="none" stroke="#0e7c7b"/><text x="${x + 9}" y="${y + 15}" font-size="11" fill="#0e7c7b">${escaped(title)}</text>`;
}

export function svgText(layout: Layout, items: readonly Item[], clusters: readonly Cluster[]): string {
  const known = new Map(items.map((item) => [item.id, item]));
  const titles = new Map(clusters.map(({ body, title }) => [body.id, title]));
  const [width, height] = [round(layout.width + 2 * MARGIN), round(layout.height + 2 * MARGIN)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" font-family="${FONT}" fill="#1d2026">`,
    `<defs><marker id="arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 1 7 4 0 7z" fill="#8b97a8"/></marker></defs>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="#ffffff"/>`,
    ...layout.frames.map((at) => frameText(at, titles.get(at.node) ?? "")),
    ...layout.edges.map((edge) => `<path d="${edge.path}" fill="none" stroke="#8b97a8" marker-end="url(#arrow)"/>`),
    ...layout.boxes.flatMap((at) => {
      const item = known.get(at.node);
      return item ? [boxText(at, item)] : [];
    }),
    "</svg>",
    "",
  ].join("\n");
}

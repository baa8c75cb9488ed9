// Python source cut into coloured pieces. The pieces, joined, are the source: nothing is lost or added.

export type Colour = "plain" | "keyword" | "string" | "comment" | "number" | "name" | "decorator";

export interface Piece {
  text: string;
  colour: Colour;
}

const KEYWORDS =
  "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield";
const PREFIX = "(?:[rRbBfFuU]{1,2})?";

const TOKEN = new RegExp(
  [
    `(?<string>${PREFIX}(?:"""[^]*?(?:"""|(?![^]))|'''[^]*?(?:'''|(?![^]))|"(?:\\\\[^]|[^"\\\\\\n])*"?|'(?:\\\\[^]|[^'\\\\\\n])*'?))`,
    "(?<comment>#[^\\n]*)",
    "(?<number>\\b(?:0[xXoObB][\\da-fA-F_]+|\\d[\\d_]*(?:\\.[\\d_]*)?(?:[eE][+-]?\\d+)?[jJ]?))",
    `(?<keyword>\\b(?:${KEYWORDS})\\b)`,
    "(?<decorator>(?<=^[ \\t]*)@[\\w.]+)",
    "(?<name>(?<=\\b(?:def|class)\\s+)\\w+)",
    "(?:[^\\W\\d]\\w*)",
  ].join("|"),
  "gmu",
);

/** The lines of `source`, each as its pieces. */
export function colourLines(source: string): Piece[][] {
  const lines: Piece[][] = [[]];
  const add = (text: string, colour: Colour): void => {
    text.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: part, colour });
    });
  };
  let at = 0;
  for (const match of source.matchAll(TOKEN)) {
    const colour = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] as Colour | undefined;
    if (colour === undefined) continue;
    add(source.slice(at, match.index), "plain");
    add(match[0], colour);
    at = match.index + match[0].length;
  }
  add(source.slice(at), "plain");
  return lines;
}

/** A line's pieces, with those between two columns marked. */
export function markColumns(pieces: readonly Piece[], from: number, to: number): (Piece & { marked: boolean })[] {
  const out: (Piece & { marked: boolean })[] = [];
  let at = 0;
  for (const piece of pieces) {
    const cuts = [0, from - at, to - at, piece.text.length]
      .map((cut) => Math.min(Math.max(cut, 0), piece.text.length))
      .sort((a, b) => a - b);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [start, end] = [cuts[i] as number, cuts[i + 1] as number];
      if (start < end) out.push({ text: piece.text.slice(start, end), colour: piece.colour, marked: at + start >= from && at + end <= to });
    }
    at += piece.text.length;
  }
  return out;
}

// One meaning a colour: what the styles say, in light and in dark.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const FOLDER = join(__dirname, "../src/style");
const CSS = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), "utf8")).join("\n").replace(/\/\*[\s\S]*?\*\//g, "");

/** The selectors and bodies of all rules. */
const RULES = [...CSS.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = "", body = ""]) => ({ selector: selector.trim(), body }));

/** Variables and their colours in a theme. */
function colours(theme: "light" | "dark"): Map<string, string> {
  const rule = RULES.find(({ selector }) => selector === (theme === "light" ? ".tw-root" : '.tw-root[data-theme="dark"]'));
  return new Map([...(rule?.body ?? "").matchAll(/--tw-([\w-]+):\s*(#[0-9a-f]{6});/g)].map(([, name = "", colour = ""]) => [name, colour]));
}

function hueAndSaturation(colour: string): [number, number] {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const range = most - least;
  if (range === 0) return [0, 0];
  const hue = most === r ? ((g - b) / range) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
  const light = (most + least) / 2;
  return [(60 * hue + 360) % 360, range / (1 - Math.abs(2 * light - 1))];
}

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  it("has yellow for where the step is, and for nothing else", () => {
    const yellow = [...colours(theme)].filter(([, colour]) => {
      const [hue, saturation] = hueAndSaturation(colour);
      return hue >= 43 && hue <= 70 && saturation > 0.2;
    });
    expect(yellow.map(([name]) => name)).toEqual(["current", "marked"]);
  });

  it("has a colour of its own for each mark of the timeline", () => {
    const marks = [...colours(theme)].filter(([name]) => name.startsWith("mark-")).map(([, colour]) => hueAndSaturation(colour));
    expect(marks.length).toBe(5);
    const strong = marks.filter(([, saturation]) => saturation > 0.25).map(([hue]) => hue).sort((one, other) => one - other);
    expect(strong.length).toBe(4);
    strong.slice(1).forEach((hue, i) => expect(hue - (strong[i] ?? 0)).toBeGreaterThan(25));
  });
});

it("yellow is used where the step is alone", () => {
  const users = RULES.filter(({ body }) => /var\(--tw-(current|marked)\)/.test(body)).flatMap(({ selector }) => selector.split(","));
  expect(users.length).toBeGreaterThan(5);
  expect(users.filter((selector) => !/\.tw-(current|marked)$/.test(selector.trim()))).toEqual([]);
});

it("what failed is not faded", () => {
  const faded = RULES.filter(({ body }) => /opacity:\s*0?\.\d/.test(body)).map(({ selector }) => selector);
  expect(faded.filter((selector) => /fail|bad|error/.test(selector))).toEqual([]);
});

// @vitest-environment node
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
// @ts-expect-error a script without types
import { types } from "../scripts/types.mjs";

it("src/schema.ts is what `npm run types` makes of schema.json", async () => {
  const at = (name: string) => new URL(`../${name}`, import.meta.url);
  const schema: unknown = JSON.parse(await readFile(at("schema.json"), "utf8"));
  expect(await readFile(at("src/schema.ts"), "utf8")).toBe(await types(schema));
});

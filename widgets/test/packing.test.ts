// The front end packed for a notebook's file, and unpacked.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { pack, unpack } from "../src/packing";

const built = (name: string): Buffer => readFileSync(`${import.meta.dirname}/../tracewalk/static/${name}`);

/** Bytes that no model guesses, the same in every run. */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => (state = (state * 48271) % 2147483647) & 255);
}

describe("packing", () => {
  const cases: Record<string, Uint8Array> = {
    nothing: new Uint8Array(),
    "a byte": Uint8Array.of(200),
    "zeros and ones": Uint8Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? 255 : 0)),
    "brackets that are never opened": new TextEncoder().encode(")]}".repeat(50)),
    "text of other alphabets": new TextEncoder().encode("größer → ∀x∃y 漢字 🙂".repeat(20)),
    noise: noise(2000),
  };
  for (const [name, bytes] of Object.entries(cases)) it(`gives back ${name}`, async () => expect(await unpack(pack(bytes))).toEqual(bytes));

  it("gives back beginnings of every length", async () => {
    const text = new TextEncoder().encode("export const a = (b) => b.map((c) => c + 1);");
    for (let length = 0; length <= text.length; length++) expect(await unpack(pack(text.subarray(0, length)))).toEqual(text.subarray(0, length));
  });

  it("writes characters that neither HTML nor JSON writes as several", () => {
    const text = pack(noise(4000));
    expect(text).toMatch(/^4000 [\x21-\x7e]+$/);
    expect(JSON.stringify(text)).toBe(`"${text}"`);
    const box = document.createElement("div");
    box.innerHTML = `<i title="${text}">`;
    expect(box.querySelector("i")?.title).toBe(text);
    expect(text).not.toMatch(/[&"\\<>]/);
  });

  it("packed the front end that was built", async () => {
    expect(Buffer.from(await unpack(built("explorer.packed").toString())).equals(built("explorer.js"))).toBe(true);
  }, 30_000);
});

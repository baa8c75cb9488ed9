// Starts the front end that a notebook's output contains, so that explorers with their recording open without a kernel.
import { frontEnds, started } from "./page";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=:?@^_`{|}~";

/** Read base 85 as Python's `b85encode` writes it, with `. , :` for `& < >`. */
function read(text: string): Uint8Array<ArrayBuffer> {
  const padded = text + "~".repeat((5 - (text.length % 5)) % 5);
  const bytes = new DataView(new ArrayBuffer((padded.length / 5) * 4));
  for (let i = 0; i < padded.length; i += 5) {
    let number = 0;
    for (let j = i; j < i + 5; j++) number = number * 85 + DIGITS.indexOf(padded.charAt(j));
    bytes.setUint32((i / 5) * 4, number);
  }
  return new Uint8Array(bytes.buffer, 0, bytes.byteLength - (padded.length - text.length));
}

for (const { dataset } of document.querySelectorAll<HTMLElement>("[data-front-end]")) {
  const build = dataset["build"] ?? "";
  if (frontEnds().has(build)) continue;
  const unpack = (): Promise<BlobPart> =>
    new Response(new Blob([read(dataset["frontEnd"] ?? "")]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  started(build, unpack).catch((error: unknown) => console.warn("tracewalk:", error));
}

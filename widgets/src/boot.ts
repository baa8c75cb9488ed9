// Starts the front end that a notebook's output contains, so that explorers with their recording open without a kernel.
import { unpack } from "./packing";
import { frontEnds, started } from "./page";

for (const { dataset } of document.querySelectorAll<HTMLElement>("[data-front-end]")) {
  const build = dataset["build"] ?? "";
  if (!frontEnds().has(build)) started(build, () => unpack(dataset["frontEnd"] ?? "")).catch((error: unknown) => console.warn("tracewalk:", error));
}

// The position in the address of a stand-alone page: `#step-57` can be shared, and opens there.
import { effect } from "@preact/signals";
import type { Model } from "./model";

/** Milliseconds of rest, as browsers limit how often an address may change. */
const REST = 200;

/** The step that an address names; null if it names none. */
export function stepIn(hash: string): number | null {
  const found = /^#step-(\d+)$/.exec(hash)?.[1];
  return found === undefined ? null : Number(found);
}

/** Keep the page's address and the position the same. Returns a function that stops it. */
export function followAddress(model: Model): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = model.position.peek();
  const stop = effect(() => {
    const at = model.position.value;
    clearTimeout(timer);
    const named = stepIn(location.hash);
    if (named === at || (named === null && at === start)) return;
    timer = setTimeout(() => history.replaceState(history.state, "", `#step-${at}`), REST);
  });
  const follow = (): void => {
    const named = stepIn(location.hash);
    if (named !== null && named !== model.position.peek()) model.go(named);
  };
  window.addEventListener("hashchange", follow);
  return () => {
    stop();
    clearTimeout(timer);
    window.removeEventListener("hashchange", follow);
  };
}

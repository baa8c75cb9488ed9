// The ways to the changes of a value that is opened.
import type { Model } from "../model";
import { isVariable } from "../stopping";

export function Changes({ model, path, tracker }: { model: Model; path: string; tracker: number }) {
  const { stopping } = model;
  const label = path.slice(path.search(/[:/][^:/]*$/) + 1);
  const go = (direction: "next" | "previous"): void => {
    stopping.picked.value = { path, label, tracker };
    stopping.goToChange(direction);
  };
  const stop = (): void => {
    const frame = JSON.stringify(model.viewed.value?.code.name ?? "");
    stopping.add(isVariable(path) ? `changes(${label}) and frame == ${frame}` : `changes(value(${tracker}))`);
    model.tab.value = "find";
  };
  return (
    <span class="tw-changes">
      <button type="button" class="tw-link" data-testid="last-change" title="Back to its last change (r)" onClick={() => go("previous")}>← last</button>
      <button type="button" class="tw-link" data-testid="next-change" title="On to its next change (R)" onClick={() => go("next")}>next →</button>
      {stopping.possible && <button type="button" class="tw-link" data-testid="stop-at-changes" title="Add a condition in the Find pane" onClick={stop}>stop at each</button>}
    </span>
  );
}

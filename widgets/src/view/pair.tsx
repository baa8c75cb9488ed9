// The explorer, and beside it, when it is asked for, that of the recording it is compared with.
import type { Model } from "../model";
import { Root } from "./root";

export function Pair({ model, height }: { model: Model; height: number | null }) {
  const { comparing } = model;
  const compared = comparing?.both.value ? comparing.loaded : null;
  return (
    <div class={compared ? "tw-pair tw-pair-both" : "tw-pair"}>
      {compared && (
        <section key="before" aria-label={`Before: ${compared.differences.before}`} data-testid="explorer-before">
          <h3 class="tw-pair-title">Before: <code>{compared.differences.before}</code></h3>
          <Root model={compared.models.before} height={height} />
        </section>
      )}
      <section key="after" aria-label={compared ? `After: ${compared.differences.after}` : undefined} data-testid="explorer-after">
        {compared && <h3 class="tw-pair-title">After: <code>{compared.differences.after}</code></h3>}
        <Root model={model} height={height} />
      </section>
    </div>
  );
}

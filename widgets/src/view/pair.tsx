// The explorer, and when it is asked for, that of the recording it is compared with: below it, where nothing moves for
// it, or to its left where there is room.
import type { Model } from "../model";
import { Root } from "./root";

export function Pair({ model, height }: { model: Model; height: number | null }) {
  const comparing = model.comparing.value;
  const compared = comparing?.both.value ? comparing.loaded : null;
  return (
    <div class="tw-pair">
      <div class={compared ? "tw-pair-both" : ""}>
        <section aria-label={compared ? `After: ${compared.differences.after}` : undefined} data-testid="explorer-after">
          {compared && <h3 class="tw-pair-title">After: <code>{compared.differences.after}</code></h3>}
          <Root model={model} height={height} />
        </section>
        {compared && (
          <section class="tw-pair-before" aria-label={`Before: ${compared.differences.before}`} data-testid="explorer-before">
            <h3 class="tw-pair-title">Before: <code>{compared.differences.before}</code></h3>
            <Root model={compared.models.before} height={height} />
          </section>
        )}
      </div>
    </div>
  );
}

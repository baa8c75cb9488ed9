import type { Model } from "../../model";
import { Empty, lineText, Said, StepLink } from "../parts";

export function EffectsPane({ model }: { model: Model }) {
  const { meta, index } = model;
  const attempt = meta.steps > 0 ? index.attemptAt(model.paneAt.value).id : -1;
  const effects = meta.side_effects.filter((effect) => effect.attempt === attempt);
  if (effects.length === 0) return <Empty>No side effects: this attempt changed nothing that outlives the function.</Empty>;
  const step = model.paneAt.value;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Side effects">
      <p class="tw-pane-head">Recorded while tracing, and replayed in this order after the graph has run.</p>
      <table class="tw-table">
        <thead><tr><th scope="col">what</th><th scope="col">kind</th><th scope="col">step</th><th scope="col">line</th></tr></thead>
        <tbody>
          {effects.map((effect) => (
            <tr key={effect.id} data-testid="effect" class={effect.step !== null && effect.step > step ? "tw-later" : effect.step === step ? "tw-current" : undefined}>
              <td><Said text={effect.message} /></td>
              <td>{effect.kind}</td>
              <td><StepLink model={model} step={effect.step} /></td>
              <td class="tw-code">{effect.step === null ? "" : lineText(model, index.codeAt(effect.step).id, index.lineAt(effect.step))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

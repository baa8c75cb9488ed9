// What is known of the body of an operator: what it lifted and why, and what became of it.
import { type Body, bodyTitle } from "../../logic/bodies";
import type { Model } from "../../model";
import { Said, StepLink } from "../parts";

export function BodyFacts({ model, body }: { model: Model; body: Body }) {
  const nodes = model.meta.nodes;
  return (
    <section class="tw-body-facts" data-testid="body-facts" aria-label={`Body ${bodyTitle(body)}`}>
      <h4>{bodyTitle(body)} {body.outcome !== "kept" && <span class="tw-bad">{body.outcome}</span>}</h4>
      <p>
        <Said text={body.text} /> <span class="tw-dim">Called at <StepLink model={model} step={body.step} />{body.last_step >= body.first_step && <> and traced from <StepLink model={model} step={body.first_step} /> to <StepLink model={model} step={body.last_step} /></>}</span>
      </p>
      {body.lifted.length > 0 && (
        <ul class="tw-lifts">
          {body.lifted.map((lift) => (
            <li key={lift.inner} data-testid="lift" class={lift.step === model.paneAt.value ? "tw-current" : undefined}>
              <Said text={lift.text} />{" "}
              <span class="tw-dim">
                <StepLink model={model} step={lift.step} />{" · "}
                <button type="button" class="tw-link" onClick={() => model.openNode(lift.outer, false)}>{nodes[lift.outer]?.name ?? lift.outer}</button>
                {" → "}
                <button type="button" class="tw-link" onClick={() => model.openNode(lift.inner, false)}>{nodes[lift.inner]?.name ?? lift.inner}</button>
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

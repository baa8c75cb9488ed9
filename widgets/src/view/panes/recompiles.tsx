// The causes of recompilations, in the words of `print(trace)`, and behind them the matrix of calls against versions.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Model } from "../../model";
import type { Recompilation } from "../../schema";
import { Empty, StepLink, Where } from "../parts";
import { CallsPane } from "./calls";

/** Text with its `quoted` parts as code. */
export function Quoted({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i} class="tw-code">{part}</code> : part))}</>;
}

function Cause({ model, cause }: { model: Model; cause: Recompilation }) {
  const { guard } = cause;
  const box = useRef<HTMLElement>(null);
  const chosen = model.cause.value === cause.id;
  useEffect(() => {
    if (chosen) box.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <article ref={box} class={chosen ? "tw-card tw-card-guard tw-current" : "tw-card tw-card-guard"} data-testid="recompilation" data-step={cause.step ?? undefined}>
      <h4><Quoted text={cause.text} /></h4>
      <p>
        <Quoted text={cause.change} />
        {cause.alone > 0 && cause.alone < cause.calls.length && <span class="tw-dim"> In {cause.alone} of these calls nothing else had changed.</span>}
      </p>
      {cause.place && (
        <p class="tw-place">
          Asked for by <Where model={model} at={{ ...cause.place, library: cause.library }} />
          {cause.step !== null && <> · <StepLink model={model} step={cause.step} /></>}
          {guard !== null && <> · <button type="button" class="tw-link" onClick={() => model.openGuard(guard)}>its guard</button></>}
        </p>
      )}
      {cause.line !== "" && <pre class="tw-quote">{cause.line}</pre>}
      <div class="tw-remedies">
        <h5>Try</h5>
        <ul>
          {cause.remedies.map((remedy) => <li key={remedy}><Quoted text={remedy} /></li>)}
        </ul>
        {model.canTryFixes && <button type="button" class="tw-link" onClick={() => { model.tab.value = "fixes"; model.tryFixes(); }}>Try out what helps</button>}
      </div>
    </article>
  );
}

export function RecompilesPane({ model }: { model: Model }) {
  const { recompilations, calls } = model.meta;
  const [matrix, showMatrix] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (matrix) button.current?.scrollIntoView({ block: "start" });
  }, [matrix]);
  if (calls.length === 0) return <Empty>No call of a traced function was recorded.</Empty>;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Recompilations">
      {recompilations.length === 0 && <p class="tw-pane-head">No call was compiled again: each one was the first of its function, or reused a version.</p>}
      {recompilations.map((cause) => <Cause key={cause.id} model={model} cause={cause} />)}
      <button type="button" class="tw-button" ref={button} aria-expanded={matrix} data-testid="show-matrix" onClick={() => showMatrix(!matrix)}>
        {matrix ? "Hide" : "Show"} all calls against all versions
      </button>
      {matrix && <CallsPane model={model} />}
    </div>
  );
}

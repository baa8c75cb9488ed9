import { breakStep } from "../../logic/trace";
import type { Model } from "../../model";
import { codeLabel, Empty, lineText, place, StepLink } from "../parts";

export function BreaksPane({ model }: { model: Model }) {
  const { breaks, faults, codes } = model.meta;
  if (breaks.length === 0 && faults.length === 0) return <Empty>No graph break: everything that was traced went into one graph a call.</Empty>;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Graph breaks">
      {faults.map((fault, i) => (
        <article key={`f${i}`} class="tw-card tw-card-fault">
          <h4>The tracer itself failed here; your program ran as plain Python. The fault is ours.</h4>
          <p><StepLink model={model} step={fault.step} /></p>
          <pre>{fault.text}</pre>
        </article>
      ))}
      {breaks.map((found, i) => {
        const step = breakStep(found);
        const here = step === model.position.value;
        return (
          <article key={found.id} class={here ? "tw-card tw-current" : "tw-card"} data-testid="break" data-step={step ?? undefined}>
            <h4>
              <span class="tw-ordinal">{i + 1}</span> {found.message}
            </h4>
            <p class="tw-place">
              <span class="tw-code">{place(model, found.code, found.line)}</span> in {codeLabel(model, found.code)} · <StepLink model={model} step={step} />
              {found.root_code !== found.code && (
                <span class="tw-dim"> · breaks {codeLabel(model, found.root_code)} at {place(model, found.root_code, found.root_line)}</span>
              )}
            </p>
            {lineText(model, found.code, found.line) !== "" && <pre class="tw-quote">{lineText(model, found.code, found.line)}</pre>}
            <p>{found.explanation}</p>
            {found.hints.length > 0 && (
              <>
                <h5>What to try</h5>
                <ul>{found.hints.map((hint) => <li key={hint}>{hint}</li>)}</ul>
              </>
            )}
            {found.action !== "" && (
              <p><b>Instead:</b> {found.action}</p>
            )}
            {found.resumes.length > 0 && (
              <p>
                Goes on in{" "}
                {found.resumes.map((id) => {
                  const first = model.meta.frames.find((frame) => frame.code === id && model.meta.attempts[frame.attempt]?.outcome !== "restarted");
                  return (
                    <span key={id}>
                      {first && first.last_step >= first.first_step ? (
                        <StepLink model={model} step={first.first_step}>{codes[id]?.name ?? "a resume function"}</StepLink>
                      ) : (
                        <span class="tw-code">{codes[id]?.name}</span>
                      )}{" "}
                    </span>
                  );
                })}
              </p>
            )}
            <p class="tw-dim tw-reason">{found.reason_id}</p>
          </article>
        );
      })}
    </div>
  );
}

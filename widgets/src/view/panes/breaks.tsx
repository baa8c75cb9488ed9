import { useMemo } from "preact/hooks";
import { type Break, breakPlaces } from "../../logic/breaks";
import { breakStep } from "../../logic/trace";
import type { Model } from "../../model";
import type { Notice } from "../../schema";
import { codeLabel, Empty, lineText, place, StepLink, Where } from "../parts";

/** The resume functions of a break, each a link to its first step where it was traced. */
function Resumes({ model, found }: { model: Model; found: Break }) {
  return (
    <>
      Continues in{" "}
      {found.resumes.map((id) => {
        const first = model.meta.frames.find((frame) => frame.code === id && model.meta.attempts[frame.attempt]?.outcome !== "restarted");
        const name = model.meta.codes[id]?.name ?? "a resume function";
        return (
          <span key={id}>
            {first && first.last_step >= first.first_step ? (
              <StepLink model={model} step={first.first_step}>
                {name}
              </StepLink>
            ) : (
              <span class="tw-code">{name}</span>
            )}{" "}
          </span>
        );
      })}
    </>
  );
}

/** The compiled version that a break ended: `forward, version 2`. */
function versionLabel(model: Model, found: Break): string {
  const compilation = model.meta.compilations[model.meta.attempts[found.attempt]?.compilation ?? -1];
  return `${codeLabel(model, found.root_code)}${compilation ? `, version ${compilation.version}` : ""}`;
}

function Hints({ hints }: { hints: readonly string[] }) {
  if (hints.length === 0) return null;
  return (
    <>
      <h5>Try</h5>
      <ul>
        {hints.map((hint) => (
          <li key={hint}>{hint}</li>
        ))}
      </ul>
    </>
  );
}

/** A notice: the program prevents something that its author requested, though no graph breaks. */
function NoticeCard({ model, notice }: { model: Model; notice: Notice }) {
  const text = lineText(model, notice.code, notice.line);
  return (
    <article class={notice.step === model.position.value ? "tw-card tw-current" : "tw-card"} data-testid="notice-card" data-step={notice.step ?? undefined}>
      <h4>{notice.message}</h4>
      <p class="tw-place">
        <Where model={model} at={notice} /> · <StepLink model={model} step={notice.step} />
      </p>
      {text !== "" && <pre class="tw-quote">{text}</pre>}
      <p>{notice.explanation}</p>
      <Hints hints={notice.hints} />
      <p class="tw-dim tw-reason">{notice.reason_id}</p>
    </article>
  );
}

function Card({ model, main, others, ordinal }: { model: Model; main: Break; others: Break[]; ordinal: number }) {
  const step = breakStep(main);
  const here = [main, ...others].some((one) => breakStep(one) === model.position.value);
  const text = lineText(model, main.code, main.line);
  return (
    <article class={here ? "tw-card tw-current" : "tw-card"} data-testid="break" data-step={step ?? undefined}>
      <h4>
        <span class="tw-ordinal">{ordinal}</span> {main.message}
      </h4>
      <p class="tw-place">
        <Where model={model} at={main} /> · <StepLink model={model} step={step}>{step === null ? "no step was recorded" : undefined}</StepLink>
        {main.root_code !== main.code && (
          <span class="tw-dim">
            {" "}
            · breaks {codeLabel(model, main.root_code)} at {place(model, main.root_code, main.root_line)}
          </span>
        )}
      </p>
      {text !== "" && <pre class="tw-quote">{text}</pre>}
      <p>{main.explanation}</p>
      <Hints hints={main.hints} />
      {main.action !== "" && (
        <p>
          <b>Instead:</b> {main.action}
        </p>
      )}
      {main.resumes.length > 0 && (
        <p>
          <Resumes model={model} found={main} />
        </p>
      )}
      {others.length > 0 && (
        <>
          <h5>The same line also breaks the graph of</h5>
          <ul>
            {others.map((other) => (
              <li key={other.id}>
                {versionLabel(model, other)}, at <span class="tw-code">{place(model, other.root_code, other.root_line)}</span> · <StepLink model={model} step={breakStep(other)} />
                {other.resumes.length > 0 && (
                  <>
                    {" · "}
                    <Resumes model={model} found={other} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="tw-dim tw-reason">{main.reason_id}</p>
    </article>
  );
}

export function BreaksPane({ model }: { model: Model }) {
  const { breaks, codes, faults, lost, notices } = model.meta;
  const places = useMemo(() => breakPlaces(breaks, codes), [breaks, codes]);
  if (breaks.length + faults.length + notices.length + lost.length === 0) return <Empty>No graph breaks: each traced call became one graph.</Empty>;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Graph breaks">
      {places.length < breaks.length && (
        <p class="tw-pane-head">
          {places.length === 1 ? "1 place" : `${places.length} places`} in the program, {breaks.length} graph breaks: a break also ends the graph of every caller of the function that contains the line.
        </p>
      )}
      {faults.map((fault, i) => (
        <article key={`f${i}`} class="tw-card tw-card-fault">
          <h4>Internal error: the tracer failed here, and your program ran as plain Python. Please report it.</h4>
          <p>
            <StepLink model={model} step={fault.step} />
          </p>
          <pre>{fault.text}</pre>
        </article>
      ))}
      {lost.length > 0 && (
        <article class="tw-card tw-card-fault" data-testid="lost">
          <h4>The recorder failed, so the recording lacks the following. Your program was not affected.</h4>
          <ul>
            {lost.map((one, i) => (
              <li key={i}>
                {one.what}
                {one.count > 1 && `, ${one.count} times`}: {one.error} <StepLink model={model} step={one.step} />
              </li>
            ))}
          </ul>
        </article>
      )}
      {places.map(({ main, others }, i) => (
        <Card key={main.id} model={model} main={main} others={others} ordinal={i + 1} />
      ))}
      {notices.map((notice) => (
        <NoticeCard key={notice.id} model={model} notice={notice} />
      ))}
    </div>
  );
}

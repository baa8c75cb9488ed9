import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Break, type BreakPlace, functionOf, rankedPlaces } from "../../logic/breaks";
import { foldLibraries, stackAt } from "../../logic/stack";
import { breakStep } from "../../logic/trace";
import type { Model } from "../../model";
import type { Notice } from "../../schema";
import { codeLabel, Empty, lineText, place, Said, shortPlace, StepLink, Where, wholeLabel } from "../parts";

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
              <StepLink model={model} step={model.index.begin(first)}>
                <Said text={name} />
              </StepLink>
            ) : (
              <Said text={name} />
            )}{" "}
          </span>
        );
      })}
    </>
  );
}

/** The compiled version that a break ended: `forward, after line 15, version 2`. */
function versionLabel(model: Model, found: Break): string {
  const compilation = model.meta.compilations[model.meta.attempts[found.attempt]?.compilation ?? -1];
  return `${wholeLabel(model, found.root_code)}${compilation ? `, version ${compilation.version}` : ""}`;
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
    <article class={notice.step === model.paneAt.value ? "tw-card tw-current" : "tw-card"} data-testid="notice-card" data-step={notice.step ?? undefined}>
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

/** The calls that led to the break, outermost first; each a link to its step, where that was recorded. */
function CallStack({ model, step }: { model: Model; step: number }) {
  const rows = foldLibraries(model.index, stackAt(model.index, step));
  return (
    <ol class="tw-stack" data-testid="call-stack">
      {rows.map((row, i) =>
        Array.isArray(row) ? (
          <li key={i} class="tw-dim">{row.length === 1 ? "1 library frame" : `${row.length} library frames`}</li>
        ) : (
          <li key={i}>
            <StepLink model={model} step={row.step}>
              {codeLabel(model, row.code)}:{row.line}
            </StepLink>
          </li>
        ),
      )}
    </ol>
  );
}

/** How many functions had their graph ended at a place. */
function ended(model: Model, { main, others }: BreakPlace): string[] {
  const functions = new Set([main, ...others].map((one) => functionOf(model.meta.codes, one.root_code)));
  return [...functions].map((id) => model.meta.codes[id]?.qualname ?? "?");
}

interface RowProps {
  model: Model;
  place: BreakPlace;
  ordinal: number;
  chosen: boolean;
}

function BreakRow({ model, place: found, ordinal, chosen }: RowProps) {
  const { main } = found;
  const step = breakStep(main);
  const text = lineText(model, main.code, main.line);
  const choose = (): void => {
    if (step !== null) model.go(step);
    model.break.value = main.id;
  };
  return (
    <tr class={chosen ? "tw-current" : ""} data-testid="break" data-step={step ?? undefined} aria-selected={chosen} onClick={choose}>
      <td class="tw-right">{ordinal}</td>
      <td>
        <button type="button" class="tw-link tw-code tw-my-line" title={`${text} · go to the step where the graph breaks, and show the details`}>
          {text !== "" ? text : place(model, main.code, main.line)}
        </button>
      </td>
      <td><Said text={main.message} /></td>
      <td class="tw-code tw-file" title={model.meta.codes[main.code]?.filename}>{shortPlace(place(model, main.code, main.line))}</td>
      <td class="tw-right" title={ended(model, found).join(", ")}>{ended(model, found).length}</td>
    </tr>
  );
}

function Details({ model, found: { main, others }, ordinal }: { model: Model; found: BreakPlace; ordinal: number }) {
  const step = breakStep(main);
  const text = lineText(model, main.code, main.line);
  return (
    <article class="tw-details" data-testid="break-details" aria-label={`Break ${ordinal}`}>
      <h4><span class="tw-ordinal">{ordinal}</span> <Said text={main.message} /></h4>
      <p class="tw-place">
        <Where model={model} at={main} /> · <StepLink model={model} step={step}>{step === null ? "no step was recorded" : undefined}</StepLink>
      </p>
      {text !== "" && <pre class="tw-quote">{text}</pre>}
      {step !== null && <CallStack model={model} step={step} />}
      <p><Said text={main.explanation} /></p>
      <Hints hints={main.hints} />
      {main.action !== "" && (
        <p>
          <b>Instead:</b> <Said text={main.action} />
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

/** The place that is chosen, else the one that the position is at, else the first. */
function shownPlace(model: Model, places: readonly BreakPlace[]): BreakPlace | undefined {
  const chosen = model.break.value;
  const has = (wanted: (one: Break) => boolean): BreakPlace | undefined => places.find(({ main, others }) => [main, ...others].some(wanted));
  const here = model.paneAt.value;
  return has((one) => one.id === chosen) ?? has((one) => breakStep(one) === here || one.step === here);
}

function BreakTable({ model, places }: { model: Model; places: readonly BreakPlace[] }) {
  const last = useRef<BreakPlace | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const found = shownPlace(model, places) ?? last.current ?? places[0];
  last.current = found;
  // The table follows the position; only it scrolls, not the page around it.
  useLayoutEffect(() => {
    const row = box.current?.querySelector<HTMLElement>("tr.tw-current");
    if (!box.current || !row) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < box.current.scrollTop) box.current.scrollTop = top - 24;
    else if (bottom > box.current.scrollTop + box.current.clientHeight) box.current.scrollTop = bottom - box.current.clientHeight;
  }, [found]);
  if (!found) return null;
  return (
    <div class="tw-breaks">
      <div class="tw-breaks-table" ref={box} tabIndex={0} role="group" aria-label="Graph breaks by place">
        <table class="tw-table">
          <thead>
            <tr>
              <th scope="col" aria-label="number">#</th>
              <th scope="col">my line</th>
              <th scope="col">reason</th>
              <th scope="col">file</th>
              <th scope="col" title="How many functions had their graph ended here">ended</th>
            </tr>
          </thead>
          <tbody>
            {places.map((each, i) => <BreakRow key={each.main.id} model={model} place={each} ordinal={i + 1} chosen={each === found} />)}
          </tbody>
        </table>
      </div>
      <div class="tw-breaks-details" tabIndex={0} role="group" aria-label="Details of the break">
        <Details model={model} found={found} ordinal={places.indexOf(found) + 1} />
      </div>
    </div>
  );
}

export function BreaksPane({ model }: { model: Model }) {
  const { breaks, codes, faults, lost, notices } = model.meta;
  const places = useMemo(() => rankedPlaces(breaks, codes), [breaks, codes]);
  const rest = faults.length + notices.length + lost.length;
  if (breaks.length + faults.length + notices.length + lost.length === 0) return <Empty>No graph breaks: each traced call became one graph.</Empty>;
  return (
    <div class={places.length > 0 && rest === 0 ? "tw-fill" : "tw-scroll"} tabIndex={0} role="group" aria-label="Graph breaks">
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
      {places.length > 0 && <BreakTable model={model} places={places} />}
      {notices.map((notice) => (
        <NoticeCard key={notice.id} model={model} notice={notice} />
      ))}
    </div>
  );
}

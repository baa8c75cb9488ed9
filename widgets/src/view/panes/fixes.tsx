// Changes that the kernel tries by repeating the recorded calls: what each removes, and whether results stay the same.
import type { Model } from "../../model";
import type { Figures, Fixes, FixesSoFar, Tried } from "../../schema";
import { Quoted } from "./recompiles";

const MARKS: Record<string, string> = { removes: "✓", reduces: "≈", "changes results": "✗", fails: "✗" };

function Diff({ text }: { text: string }) {
  return (
    <pre class="tw-quote tw-diff">
      {text.split("\n").map((line, i) => (
        <div key={i} class={line.startsWith("+") ? "tw-added" : line.startsWith("-") ? "tw-removed" : undefined}>{line}</div>
      ))}
    </pre>
  );
}

const FIGURES: readonly (keyof Figures)[] = ["graphs", "breaks", "compilations", "plain"];
const LABELS: Record<keyof Figures, string> = { graphs: "graphs", breaks: "breaks", compilations: "compilations", plain: "calls as plain Python" };

function Numbers({ before, after }: { before: Figures; after: Figures }) {
  return (
    <p class="tw-figures">
      {FIGURES.filter((name) => before[name] + after[name] > 0 || name !== "plain").map((name) => (
        <span key={name}>{LABELS[name]} {before[name]}{before[name] !== after[name] ? <> → <b>{after[name]}</b></> : ""}</span>
      ))}
    </p>
  );
}

function Candidate({ one, before }: { one: Tried; before: Figures }) {
  return (
    <section class="tw-candidate" data-testid="candidate" data-verdict={one.verdict}>
      <h5><span class="tw-verdict" aria-hidden="true">{MARKS[one.verdict] ?? "–"}</span> {one.name}: {one.text}</h5>
      {one.why && <p data-testid="why-not"><Quoted text={one.why} /></p>}
      {one.after && <Numbers before={before} after={one.after} />}
      <Diff text={one.diff} />
    </section>
  );
}

function Outcome({ fixes, trying }: { fixes: Fixes; trying: boolean }) {
  const { before } = fixes;
  return (
    <>
      {fixes.notes.map((note) => <p key={note} class="tw-notice" data-testid="fixes-note">{note}</p>)}
      {before && fixes.problems.length === 0 && !trying && <p>There is nothing to fix: no break, and no recompilation.</p>}
      {before && fixes.problems.map((problem) => (
        <article key={problem.title} class={problem.kind === "break" ? "tw-card" : "tw-card tw-card-guard"} data-testid="fixed-problem">
          <h4><Quoted text={problem.title} /></h4>
          <p>{problem.text}</p>
          {problem.tried.map((one) => <Candidate key={one.name} one={one} before={before} />)}
        </article>
      ))}
    </>
  );
}

function Progress({ model, so }: { model: Model; so: FixesSoFar | null }) {
  const stopping = model.trying.value === "stopping";
  const at = so?.next == null ? "Running the calls again…" : `Running ${so.total > 0 ? `change ${so.done + 1} of ${so.total}: ` : ""}${so.next}`;
  return (
    <p class="tw-pane-head" data-testid="fixes-progress">
      <progress aria-label="Changes tried" max={so?.total || 1} value={so?.total ? so.done : undefined} />{" "}
      <span>{stopping ? "Stopping after this one…" : at}</span>{" "}
      <button type="button" class="tw-button" data-testid="stop-fixes" disabled={stopping} onClick={() => model.stopTrying()}>
        Stop
      </button>
    </p>
  );
}

export function FixesPane({ model }: { model: Model }) {
  const so = model.fixes.value;
  const state = model.trying.value;
  const running = state === "running" || state === "stopping";
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Fixes">
      <p class="tw-pane-head">
        The recorded calls are run again on copies of their inputs, with one change at a time, and results are compared with plain Python. Your source and your objects stay as they are.
      </p>
      {running ? (
        <Progress model={model} so={so} />
      ) : (
        <button type="button" class="tw-button" data-testid="try-fixes" onClick={() => void model.tryFixes()}>
          {so === null ? "Try fixes" : "Try again"}
        </button>
      )}
      <div role="status">
        {typeof state === "object" && <p class="tw-notice">{state.error}</p>}
        {so !== null && !running && so.next !== null && <p class="tw-notice" data-testid="fixes-stopped">Stopped after {so.done} of {so.total} changes.</p>}
        {so !== null && <Outcome fixes={so.fixes} trying={running} />}
      </div>
    </div>
  );
}

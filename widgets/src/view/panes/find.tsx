// What holds the searched text, and the conditions to stop at.
import { useMemo, useRef } from "preact/hooks";
import { type Found, KINDS, type Kind, marked, type Match, nextMatch } from "../../logic/find";
import type { Model } from "../../model";
import { NO_KERNEL, type Stop } from "../../stopping";
import { Going, place, Rows, Said } from "../parts";

export function FindPane({ model }: { model: Model }) {
  const found = model.results.value;
  return (
    <div class="tw-finding">
      <section class="tw-results-box" aria-label="Found">
        {found === null ? (
          <p class="tw-empty">
            Write into the field of the toolbar (key <kbd>/</kbd>) what to look for: functions, source lines, instructions, nodes, guards and breaks of the whole recording are listed here.
          </p>
        ) : found.matches.length === 0 ? (
          <p class="tw-empty" role="status">Nothing in this recording contains “{model.findText.value.trim()}”.</p>
        ) : (
          <Results model={model} found={found} wanted={model.findText.value.trim()} />
        )}
      </section>
      <section class="tw-stops" aria-label="Where to stop">
        <Stops model={model} />
      </section>
    </div>
  );
}

type Row = { kind: Kind; count: number } | { match: Match };

function Results({ model, found, wanted }: { model: Model; found: Found; wanted: string }) {
  const rows = useMemo(() => {
    const kinds = Object.keys(KINDS) as Kind[];
    return kinds.flatMap((kind): Row[] => {
      const own = found.matches.filter((match) => match.kind === kind);
      return own.length === 0 ? [] : [{ kind, count: own.length }, ...own.map((match): Row => ({ match }))];
    });
  }, [found]);
  const step = model.position.value;
  return (
    <Rows
      items={rows}
      row={21}
      current={null}
      label={`${found.matches.length} found, in groups`}
      testId="results"
      class="tw-results"
      render={(row, i) =>
        "kind" in row ? (
          <h4 key={i} class="tw-results-head">{KINDS[row.kind]} <span class="tw-dim">{row.count}</span></h4>
        ) : (
          <Result key={i} model={model} match={row.match} wanted={wanted} here={row.match.steps.includes(step)} />
        )
      }
    />
  );
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  return <>{marked(text, wanted).map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</>;
}

function Result({ model, match, wanted, here }: { model: Model; match: Match; wanted: string; here: boolean }) {
  const times = match.steps.length;
  const go = (): void => {
    const to = nextMatch(match.steps, model.position.value, "next");
    if (to !== null) model.go(to);
  };
  return (
    <button
      type="button"
      class={`tw-result${here ? " tw-current" : ""}${match.mine ? "" : " tw-result-library"}`}
      data-testid="result"
      data-kind={match.kind}
      data-step={match.steps[0]}
      title={times > 1 ? `${times} times: go to the next one` : `Go to step ${match.steps[0]}`}
      onClick={go}
    >
      <span class="tw-result-text">
        <Marked text={match.text} wanted={wanted} />
        {match.note !== "" && <span class="tw-dim"> · <Marked text={match.note} wanted={wanted} /></span>}
      </span>{" "}
      <span class="tw-dim">{times > 1 && `${times}× `}{place(model, match.code, match.line)}</span>
    </button>
  );
}

// --- conditions ------------------------------------------------------------------------------------------------------

/** Conditions for the variables at hand, as suggestions. */
function examples(model: Model): string[] {
  const names = model.viewed.value?.code.locals.filter((name) => /^[a-z]\w*$/i.test(name)) ?? [];
  const first = names.find((name) => name !== "self") ?? "x";
  return [`the shape of ${first} changes`, ...(names.includes("self") ? ["self.training is read"] : []), `${first} changes`, 'frame == "forward" and node', `step.line == ${model.viewed.value?.line ?? 12}`];
}

function Stops({ model }: { model: Model }) {
  const field = useRef<HTMLInputElement>(null);
  if (!model.stopping.possible) return <p class="tw-empty" data-testid="no-kernel"><Said text={`${NO_KERNEL} In a notebook, \`t.show()\` also stops where a condition holds, and \`t.steps.where("x changes")\` finds the steps.`} /></p>;
  const add = (text: string): void => model.stopping.add(text.trim());
  return (
    <>
      <form
        class="tw-stop-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!field.current) return;
          add(field.current.value);
          field.current.value = "";
        }}
      >
        <label>
          <span class="tw-stop-label">Stop where</span>
          <input ref={field} class="tw-input tw-stop-text" data-testid="stop-text" placeholder="the shape of x changes" spellcheck={false} autocomplete="off" />
        </label>
        <button type="submit" class="tw-button tw-stop-add" data-testid="add-stop">add</button>
      </form>
      {model.stopping.stops.value.map((stop) => <StopRow key={stop.text} model={model} stop={stop} />)}
      {model.stopping.stops.value.length > 0 && <p class="tw-dim tw-stop-keys"><kbd>w</kbd> goes on to the next of them, <kbd>W</kbd> back.</p>}
      <div class="tw-stop-examples">
        <span class="tw-dim">For example </span>
        {examples(model).map((text) => <button key={text} type="button" class="tw-link tw-code" onClick={() => add(text)}>{text}</button>)}
      </div>
      <details class="tw-stop-help">
        <summary>What a condition can ask</summary>
        <ul>
          <li><Said text="`x changes`, `the shape of x changes`, `self.steps is read`, `self.steps is written`" /></li>
          <li><Said text="`x.shape[0] > 4`, `len(kept) == 2`, `self.steps == 1`: variables, as they are before the step" /></li>
          <li><Said text="`step.line`, `step.op`, `step.arg`, `step.source`, `step.raised`; `step % 100 == 0`" /></li>
          <li><Said text={"`frame.function`, `frame.file`, `frame.depth`; `frame == \"forward\"`"} /></li>
          <li><Said text="`node.target`, `node.shape`, `guard.kind`, `guard.name`, `graph_break.reason`" /></li>
          <li><Said text="`and`, `or`, `not`, `in`. Nothing of the program runs. In Python: `t.steps.where(...)`" /></li>
        </ul>
      </details>
    </>
  );
}

function StopRow({ model, stop }: { model: Model; stop: Stop }) {
  const { asked } = stop;
  const steps = model.stopping.stepsOf(stop);
  const wrong = asked !== "loading" && "error" in asked;
  return (
    <div class="tw-stop" data-testid="stop">
      <label class="tw-stop-name">
        <input type="checkbox" checked={stop.on} disabled={wrong} aria-label={`Stop where ${stop.text}`} onChange={(event) => model.stopping.change(stop.text, { on: event.currentTarget.checked })} />
        <span class="tw-code">{stop.text}</span>
      </label>
      {asked === "loading" && <span class="tw-dim"><Going text="Searching the recording" so={stop.so} name="stop-search" stop={() => model.stopping.remove(stop.text)} /></span>}
      {asked !== "loading" && !wrong && (
        <span class="tw-dim" data-testid="stop-count">{steps.length === 0 ? "nowhere" : steps.includes(model.position.value) ? `${steps.indexOf(model.position.value) + 1} of ${steps.length}` : `${steps.length} step${steps.length === 1 ? "" : "s"}`}</span>
      )}
      <span class="tw-spring" />
      <button type="button" class="tw-button" aria-label={`Back to where ${stop.text}`} title="Back" disabled={steps.length === 0} onClick={() => model.stopping.go("previous", [stop])}>◂</button>
      <button type="button" class="tw-button" aria-label={`On to where ${stop.text}`} title="On" disabled={steps.length === 0} onClick={() => model.stopping.go("next", [stop])}>▸</button>
      <button type="button" class="tw-button" aria-label={`Remove ${stop.text}`} title="Remove" onClick={() => model.stopping.remove(stop.text)}>×</button>
      {wrong && <p class="tw-bad tw-stop-wrong" role="alert"><Said text={asked.error} /></p>}
    </div>
  );
}

// The conditions to stop at, which the kernel evaluates.
import { useRef } from "preact/hooks";
import type { Model } from "../../model";
import type { Stop } from "../../stopping";
import { Going, Said } from "../parts";

/** Conditions for the variables at hand, as suggestions. */
function examples(model: Model): string[] {
  const names = model.viewed.value?.code.locals.filter((name) => /^[a-z]\w*$/i.test(name)) ?? [];
  const first = names.find((name) => name !== "self") ?? "x";
  return [`the shape of ${first} changes`, ...(names.includes("self") ? ["self.training is read"] : []), `${first} changes`, 'frame == "forward" and node', `step.line == ${model.viewed.value?.line ?? 12}`];
}

export function Stops({ model }: { model: Model }) {
  const field = useRef<HTMLInputElement>(null);
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
        <span class="tw-dim" data-testid="stop-count">{steps.length === 0 ? "nowhere" : steps.includes(model.paneAt.value) ? `${steps.indexOf(model.paneAt.value) + 1} of ${steps.length}` : `${steps.length} step${steps.length === 1 ? "" : "s"}`}</span>
      )}
      <span class="tw-spring" />
      <button type="button" class="tw-button" aria-label={`Back to where ${stop.text}`} title="Back" disabled={steps.length === 0} onClick={() => model.stopping.go("previous", [stop])}>◂</button>
      <button type="button" class="tw-button" aria-label={`On to where ${stop.text}`} title="On" disabled={steps.length === 0} onClick={() => model.stopping.go("next", [stop])}>▸</button>
      <button type="button" class="tw-button" aria-label={`Remove ${stop.text}`} title="Remove" onClick={() => model.stopping.remove(stop.text)}>×</button>
      {wrong && <p class="tw-bad tw-stop-wrong" role="alert"><Said text={asked.error} /></p>}
    </div>
  );
}

import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { run } from "../commands";
import { matchText } from "../logic/find";
import type { Command } from "../logic/keys";
import { type By, WAYS } from "../logic/navigate";
import type { Model } from "../model";

const SOLID: Partial<Record<Command, string>> = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  previous: "M11.5 3v10L4.5 8z",
  next: "M4.5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};
const STROKE: Partial<Record<Command, string>> = {
  back: "M7 3 2.5 8 7 13M2.5 8h11",
  forward: "M9 3l4.5 5L9 13M13.5 8h-11",
  into: "M8 2v8M4.8 7 8 10.2 11.2 7M3 13.5h10",
  over: "M2.5 9.5C3.5 4 10.5 3 12.8 7.5M13 3.8v4H9M8 13.5h.01",
  out: "M8 10.5v-8M4.8 5.5 8 2.3 11.2 5.5M3 13.5h10",
  nextBody: "M2.5 5.5v8h11v-8M8 1.5v8M5.2 6.8 8 9.7 10.8 6.8",
  overBody: "M2.5 9v4.5h11V9M2.5 6C4 1.5 11 1.5 13 5.2M13.2 1.6v4h-4",
};

interface ButtonProps {
  model: Model;
  command: Command;
  label: string;
  hint: string;
  disabled?: boolean;
}

function Button({ model, command, label, hint, disabled = false }: ButtonProps) {
  return (
    <button type="button" class="tw-button" disabled={disabled} data-testid={command} aria-label={label} title={`${label} (${hint})`} onClick={() => run(model, command)}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={SOLID[command] ?? STROKE[command]} class={command in SOLID ? "tw-solid" : "tw-stroke"} />
      </svg>
    </button>
  );
}

const FIND_HELP = "Find instructions, source lines, functions, nodes or guards; #57 goes to step 57. Enter: next match, Shift+Enter: previous match";

function Find({ model }: { model: Model }) {
  const timer = useRef(0);
  const found = useComputed(() => {
    const steps = model.found.value;
    return steps ? matchText(steps, model.position.value) : "";
  });
  const search = (text: string): void => {
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      model.search(text);
    }, 120);
  };
  return (
    <span class="tw-find">
      <input
        type="search"
        data-testid="find"
        class="tw-input"
        placeholder="find, or #step"
        aria-label={`Find. ${FIND_HELP}`}
        title={FIND_HELP}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          window.clearTimeout(timer.current);
          model.search(event.currentTarget.value);
          model.find(event.shiftKey ? "previous" : "next");
        }}
      />
      <span class="tw-found" data-testid="found" aria-live="polite">
        {found}
      </span>
    </span>
  );
}

function MyCode({ model }: { model: Model }) {
  return (
    <label class="tw-check" title="Fold the frames of libraries, and step over them (j)">
      <input type="checkbox" data-testid="my-code" checked={model.mine.value} onChange={() => run(model, "mine")} />
      just my code
    </label>
  );
}

function Restarts({ model }: { model: Model }) {
  if (!model.meta.attempts.some((attempt) => attempt.outcome === "restarted")) return null;
  return (
    <label class="tw-check" title="Where the graph breaks, the tracer goes back to the start, and stops there the next time. Also show the steps that it gave up">
      <input type="checkbox" data-testid="failed-attempts" checked={model.failed.value} onChange={(event) => model.showFailed(event.currentTarget.checked)} />
      <span>failed<span class="tw-roomy"> attempts</span></span>
    </label>
  );
}

export function Toolbar({ model }: { model: Model }) {
  return (
    <div class="tw-toolbar" role="toolbar" aria-label="Stepping" data-testid="toolbar">
      <span class="tw-group">
        <Button model={model} command="back" label="Back to where you were" hint="Alt+←" disabled={!model.canGoBack} />
        <Button model={model} command="forward" label="Forward again" hint="Alt+→" disabled={!model.canGoForward} />
      </span>
      <span class="tw-group">
        <Button model={model} command="first" label="First step" hint="Home" />
        <Button model={model} command="previous" label="Previous" hint="←" />
        <Button model={model} command="next" label="Next" hint="→" />
        <Button model={model} command="last" label="Last step" hint="End" />
      </span>
      <label class="tw-by">
        by
        <select
          class="tw-input"
          data-testid="by"
          aria-label="Unit of the Next and Back buttons"
          value={model.by.value}
          onChange={(event) => {
            model.by.value = event.currentTarget.value as By;
            event.currentTarget.closest<HTMLElement>(".tw-root")?.focus();
          }}
        >
          {Object.entries(WAYS).map(([name, way]) => (
            <option key={name} value={name}>
              {way.label}
            </option>
          ))}
        </select>
      </label>
      <span class="tw-group">
        <Button model={model} command="into" label="Into the next call" hint="i" />
        <Button model={model} command="over" label="Over the call" hint="v" />
        <Button model={model} command="out" label="Out of this function" hint="o" />
      </span>
      {model.meta.bodies.length > 0 && (
        <span class="tw-group">
          <Button model={model} command="nextBody" label="Into the next body of an operator" hint="e" />
          <Button model={model} command="overBody" label="Over the body of an operator" hint="s" />
        </span>
      )}
      <Find model={model} />
      <span class="tw-group tw-checks">
      <MyCode model={model} />
      <Restarts model={model} />
      </span>
      <span class="tw-group tw-end">
      <span
        class="tw-position"
        data-testid="position"
        style={{ minWidth: `${8 + 2 * String(model.meta.steps).length}ch` }}
        title={`Steps count from 0: this is trace.steps[${model.position.value}]`}>
        step {model.position.value} of {model.meta.steps}
      </span>
      <button type="button" class="tw-button" data-testid="help" aria-label="Keys and help" title="Keys and help (?)" onClick={() => run(model, "help")}>
        ?
      </button>
      </span>
    </div>
  );
}

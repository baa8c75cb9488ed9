// The dispatcher's steps: the run, its calls with those of their decompositions inside them, and the call shown.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fakeTexts, modesAt, outcome, shownSteps, title, ways } from "../../logic/dispatch";
import type { Model } from "../../model";
import type { DispatchRun, DispatchStep } from "../../schema";
import { memo, Rows, Said } from "../parts";

const NONE: ReadonlySet<number> = new Set();

export function DispatchPane({ model }: { model: Model }) {
  const dispatcher = model.dispatcher.value;
  const { runs, steps } = dispatcher;
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const at = Math.min(model.dispatched.value, steps.length - 1);
  const step = steps[at];
  const run = step && runs[step.run];
  const shown = useMemo(() => (run ? shownSteps(dispatcher, run, folded) : []), [dispatcher, run, folded]);
  const ofRun = useMemo(() => (run ? shownSteps(dispatcher, run, NONE) : []), [dispatcher, run]);
  if (!step || !run) return null;
  const go = (to: number | null): void => {
    if (to === null) return;
    setFolded(new Set([...folded].filter((call) => !(call < to && to <= (steps[call]?.last_step ?? 0)))));
    model.dispatched.value = to;
  };
  const way = ways(steps, at);
  return (
    <div class="tw-dispatch">
      <div class="tw-dispatch-bar" role="toolbar" aria-label="Steps of the dispatcher">
        <Way label="Back" sign="‹" to={way.previous} go={go} />
        <Way label="Next call" sign="›" to={way.next} go={go} />
        <Way label="Over the calls inside this one" sign="over" to={way.over} go={go} />
        <Way label="Out, to the call that made this one" sign="out" to={way.out} go={go} />
        <select class="tw-input" aria-label="Traced" data-testid="dispatch-run" value={run.id} onChange={(event) => go(runs[Number(event.currentTarget.value)]?.first_step ?? null)}>
          {runs.filter((one) => one.last_step >= one.first_step).map((one) => <option key={one.id} value={one.id}>{title(one)}</option>)}
        </select>
        <OfNode model={model} run={run} />
        <span class="tw-spring" />
        <span class="tw-position" data-testid="dispatch-position">call {ofRun.indexOf(step)} of {ofRun.length}</span>
      </div>
      <Rows
        items={shown}
        row={21}
        current={shown.findIndex((one) => one.id === at)}
        label="Calls at the dispatcher"
        testId="dispatch-calls"
        class="tw-dispatch-calls"
        render={(one) => (
          <Call key={one.id} model={model} step={one} current={one.id === at} folded={folded.has(one.id)} onGo={() => go(one.id)} onFold={() => {
            const next = new Set(folded);
            if (!next.delete(one.id)) next.add(one.id);
            if (one.id < at && at <= one.last_step) model.dispatched.value = one.id;
            setFolded(next);
          }} />
        )}
      />
      <div class="tw-dispatch-side" tabIndex={0} role="group" aria-label="The call">
        <Modes model={model} step={step} />
        <Facts model={model} step={step} />
        {run.error !== "" && <p class="tw-bad">{title(run)} ended early: {run.error}</p>}
      </div>
    </div>
  );
}

function Way({ label, sign, to, go }: { label: string; sign: string; to: number | null; go(to: number | null): void }) {
  return (
    <button type="button" class="tw-button" aria-label={label} title={label} disabled={to === null} onClick={() => go(to)}>
      {sign}
    </button>
  );
}

/** Back to the node of the captured graph. */
function OfNode({ model, run }: { model: Model; run: DispatchRun }) {
  const node = run.node === null ? undefined : model.meta.nodes[run.node];
  if (!node) return null;
  return (
    <span class="tw-dim">
      under <button type="button" class="tw-link" data-testid="dispatch-node" onClick={() => model.openNode(node.id, true)}>{node.name}</button>
    </span>
  );
}

interface CallProps {
  model: Model;
  step: DispatchStep;
  current: boolean;
  folded: boolean;
  onGo(): void;
  onFold(): void;
}

function Call({ model, step, current, folded, onGo, onFold }: CallProps) {
  const dispatcher = model.dispatcher.value;
  const made = step.nodes.flatMap((id) => dispatcher.nodes[id]?.name ?? []);
  const results = fakeTexts(dispatcher, step.results).join(", ");
  return (
    <div class={`tw-dispatch-call${current ? " tw-current" : ""}`} data-testid="dispatch-call" data-depth={step.depth} style={{ paddingLeft: `${4 + step.depth * 18}px` }}>
      {step.last_step > step.id ? (
        <button type="button" class="tw-caret" aria-expanded={!folded} aria-label={`Calls inside ${step.operator}`} onClick={onFold}>{folded ? "▸" : "▾"}</button>
      ) : (
        <span class="tw-caret" />
      )}
      <button type="button" class="tw-dispatch-go" aria-current={current ? "step" : undefined} onClick={onGo} title={`${step.operator}(${step.args})`}>
        <b>{step.operator}</b>
        <span class={`tw-decision tw-decision-${step.error === "" ? step.decisions.at(-1)?.[0] : "error"}`}>{outcome(step)}</span>
        {made.length > 0 && <span class="tw-new">{made.join(", ")}</span>}
        <span class="tw-dim">{results}</span>
      </button>
    </div>
  );
}

/** The mode stack, the top one above the others. */
const Modes = memo(function Modes({ model, step }: { model: Model; step: DispatchStep }) {
  const modes = modesAt(model.dispatcher.value, step);
  return (
    <section aria-label="Mode stack">
      <h4>Mode stack</h4>
      <ol class="tw-modes" data-testid="dispatch-modes">
        {modes.map((name, i) => (
          <li key={i} class={i === 0 ? "tw-top" : ""}>
            <span class="tw-dim">{i === 0 ? "top" : i === modes.length - 1 ? "bottom" : ""}</span> <span class="tw-code">{name}</span>
          </li>
        ))}
      </ol>
    </section>
  );
});

function Facts({ model, step }: { model: Model; step: DispatchStep }) {
  const dispatcher = model.dispatcher.value;
  const top = useRef<HTMLElement>(null);
  useEffect(() => top.current?.parentElement?.scrollTo({ top: 0 }), [step.id]);
  const results = fakeTexts(dispatcher, step.results);
  return (
    <section ref={top}>
      <dl class="tw-facts" data-testid="dispatch-facts">
        <dt>call</dt>
        <dd class="tw-code">{step.operator}({step.args})</dd>
        <dt>decided</dt>
        <dd>
          {step.decisions.map(([decision, why], i) => <div key={i}><b>{decision}</b>: <Said text={why} /></div>)}
          {step.error !== "" && <div class="tw-bad">raised {step.error}</div>}
        </dd>
        {step.nodes.length > 0 && (
          <>
            <dt>{step.nodes.length === 1 ? "node" : "nodes"}</dt>
            <dd class="tw-code">
              {step.nodes.map((id) => {
                const node = dispatcher.nodes[id];
                return node && (
                  <div key={id}>{node.name} {node.op === "get_attr" ? <span class="tw-dim">an attribute of the graph</span> : `= ${node.target}(${node.args})`}</div>
                );
              })}
            </dd>
          </>
        )}
        <dt>result</dt>
        <dd class="tw-code">
          {results.length === 0 ? <span class="tw-dim">no tensor</span> : step.results.map((number, i) => {
            const fake = dispatcher.fakes[number];
            return (
              <div key={i}>
                {results[i]} <span class="tw-dim">{fake?.stride.length ? `strides (${fake.stride.join(", ")}), ` : ""}{fake?.device}{fake?.requires_grad ? ", requires grad" : ""}</span>
              </div>
            );
          })}
        </dd>
      </dl>
    </section>
  );
}

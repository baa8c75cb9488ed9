// Stack, locals and cells of the viewed frame: the values that the step popped, pushed and changed, each of which can be opened.
import type { ComponentChildren } from "preact";
import { cellRows, type Fate, localRows, stackRows } from "../logic/change";
import { changedBetween } from "../logic/snapshots";
import type { StepView } from "../logic/window";
import type { Model } from "../model";
import { type Snapshot, TOUCHED, type TrackerView } from "../schema";
import { Changes } from "./changes";
import { Empty, Fake, Said, StepLink } from "./parts";

/** The steps that determine the values: those before are as of `step - 1`, those after as of `until`. */
interface Moment {
  step: number;
  until: number;
}

interface ValueProps {
  model: Model;
  /** Its position, e.g. `locals:x`, which identifies it among the opened values. */
  path: string;
  label: string;
  tracker: number;
  moment: Moment;
  fate: Fate;
  depth?: number;
  /** The previous tracker at this position, if it is another. */
  was?: number | null | undefined;
}

const FATES: Record<Fate, { sign: string; title: string }> = {
  kept: { sign: "", title: "" },
  pushed: { sign: "+", title: "pushed by this step" },
  popped: { sign: "−", title: "popped by this step" },
};

/** A tracker at a moment, in one line. */
function Short({ model, tracker, at }: { model: Model; tracker: number; at: number }) {
  const asked = model.snapshot(tracker, at);
  if (asked === "loading") return <span class="tw-dim">…</span>;
  return "error" in asked ? <span class="tw-bad">{asked.error}</span> : <>{asked.value.text}</>;
}

export function Value({ model, path, label, tracker, moment, fate, depth = 0, was }: ValueProps) {
  const asked = model.tracker(tracker);
  const at = fate === "popped" ? moment.step - 1 : moment.until;
  const view = asked !== "loading" && "value" in asked ? asked.value : null;
  const shown = model.snapshot(tracker, at);
  const snapshot = shown !== "loading" && "value" in shown ? shown.value : null;
  const changed = fate === "kept" && view !== null && changedBetween(view, moment.step, moment.until);
  const open = model.open.value.has(path);
  const { picked } = model.stopping;
  const pick = (): void => {
    picked.value = { path, label, tracker };
  };
  const sought = snapshot !== null && model.sought.value !== "" && snapshot.text.split(/\W+/).includes(model.sought.value);
  const classes = ["tw-value", `tw-${fate}`, changed ? "tw-changed" : "", picked.value?.path === path ? "tw-picked" : "", sought ? "tw-sought" : ""].join(" ");
  return (
    <div class="tw-value-box" data-testid="value" data-path={path}>
      <button
        type="button"
        class={classes}
        aria-expanded={open}
        style={{ paddingLeft: `${6 + depth * 14}px` }}
        title={changed ? "changed by this step" : FATES[fate].title || snapshot?.kind}
        onClick={() => {
          pick();
          model.toggle(path);
        }}
        onFocus={pick}
      >
        <span class="tw-sign">{FATES[fate].sign || (changed ? "~" : "")}</span>{" "}
        <span class="tw-label">{label}</span>{" "}
        <span class="tw-text">
          <Short model={model} tracker={tracker} at={at} />
          {was !== undefined && (
            <span class="tw-was">
              {" "}
              was {was === null ? "unbound" : <Short model={model} tracker={was} at={moment.step - 1} />}
            </span>
          )}
        </span>
        {snapshot && snapshot.name !== "" && snapshot.name !== label && <>{" "}<span class={`tw-from${snapshot.source ? "" : " tw-made"}`} title={snapshot.source ?? snapshot.name}><Said text={snapshot.name} /></span></>}
      </button>
      {open && view && snapshot && <Opened model={model} path={path} view={view} snapshot={snapshot} moment={moment} at={at} depth={depth} />}
    </div>
  );
}

interface OpenedProps {
  model: Model;
  path: string;
  view: TrackerView;
  snapshot: Snapshot;
  moment: Moment;
  at: number;
  depth: number;
}

function Opened({ model, path, view, snapshot, moment, at, depth }: OpenedProps) {
  const { fake } = snapshot;
  const node = snapshot.node === null ? undefined : model.meta.nodes[snapshot.node];
  const guards = snapshot.guards.flatMap((id) => model.meta.guards[id] ?? []);
  const facts: [string, ComponentChildren][] = [
    ["kind", <>{snapshot.kind} <span class="tw-dim">{snapshot.cls}</span></>],
    ["type", <span class="tw-code">{snapshot.py_type}</span>],
  ];
  if (fake) {
    facts.push(["fake", <Fake fake={fake} />]);
    if (fake.dtype !== "")
      facts.push(["layout", <span class="tw-code">stride ({fake.stride.join(", ")}) · {fake.device}{fake.requires_grad ? " · requires grad" : ""}</span>]);
  }
  facts.push(["from", snapshot.name !== "" ? <span class="tw-code"><Said text={snapshot.name} /></span> : <span class="tw-dim">created in the trace</span>]);
  if (snapshot.source) facts.push(["source", <span class="tw-code tw-dim">{snapshot.source}</span>]);
  if (node)
    facts.push([
      "node",
      <button type="button" class="tw-link" title="Show in the graph" onClick={() => model.openNode(node.id, false)}>
        {node.name}
      </button>,
    ]);
  facts.push(["created by", <StepLink model={model} step={view.made_by} />]);
  facts.push(["changes", <Changes model={model} path={path} tracker={snapshot.tracker} />]);
  if (guards.length > 0)
    facts.push([
      "guards",
      guards.map((guard) => (
        <button key={guard.id} type="button" class="tw-link tw-block" onClick={() => model.openGuard(guard.id)}>
          {guard.text}
        </button>
      )),
    ]);
  facts.push(["history", <History model={model} tracker={snapshot.tracker} />]);
  return (
    <div class="tw-opened">
      <dl class="tw-facts" style={{ marginLeft: `${22 + depth * 14}px` }} data-testid="value-facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {depth < 12 &&
        snapshot.parts.map(([label, part], i) => (
          <Value
            key={i}
            model={model}
            path={`${path}/${label}`}
            label={label}
            tracker={part}
            moment={{ step: moment.step, until: at }}
            fate="kept"
            depth={depth + 1}
          />
        ))}
      {snapshot.more > 0 && <p class="tw-more" style={{ marginLeft: `${22 + depth * 14}px` }}>{snapshot.more} further parts were not recorded.</p>}
    </div>
  );
}

/** The steps that touched a value. */
function History({ model, tracker }: { model: Model; tracker: number }) {
  const asked = model.touched(tracker);
  if (asked === "loading") return <span class="tw-dim">…</span>;
  if ("error" in asked) return <span class="tw-bad">{asked.error}</span>;
  const steps = asked.value[TOUCHED.steps];
  const more = asked.value[TOUCHED.count] - steps.length;
  if (steps.length === 0) return <span class="tw-dim">no step touched it</span>;
  return (
    <>
      {steps.map((step) => (
        <span key={step}><StepLink model={model} step={step}>{step}</StepLink> </span>
      ))}
      {more > 0 && <span class="tw-dim">and {more} more steps</span>}
    </>
  );
}

function Section({ name, testId, count, longest, children }: { name: string; testId: string; count: number; longest: number; children: ComponentChildren }) {
  return (
    <section class="tw-section" data-testid={testId} aria-label={name} style={{ "--tw-label": `${Math.min(longest + 1, 18)}ch` }}>
      <h4>{name} <span class="tw-dim">{count}</span></h4>
      {children}
      {count === 0 && <p class="tw-none">empty</p>}
    </section>
  );
}

export function Values({ model }: { model: Model }) {
  const viewed = model.viewed.value;
  if (!viewed) return <Empty>No values were recorded.</Empty>;
  const asked = model.stepView(viewed.step);
  if (asked === "loading") return <Empty>{model.trouble === "" ? "Loading the values of this step…" : "The values of this step are not loaded."}</Empty>;
  if ("error" in asked) return <Empty>{asked.error}</Empty>;
  const inner = viewed === model.chain.value.at(-1);
  // In a caller the call is still under way: only what was there before it has a meaning.
  const view: StepView = inner ? asked.value : { ...asked.value, after: null };
  const moment = { step: viewed.step, until: view.after ? view.until : viewed.step - 1 };
  const stack = stackRows(view);
  const locals = localRows(viewed.code, view);
  const cells = cellRows(viewed.code, view);
  const longest = (rows: typeof locals): number => Math.max(4, ...rows.map((row) => row.name.length));
  const slots = (rows: typeof locals, part: string) =>
    rows.map((row) => {
      const shown = row.after ?? row.before;
      return shown === null ? null : (
        <Value
          key={row.name}
          model={model}
          path={`${part}:${row.name}`}
          label={row.name}
          tracker={shown}
          moment={moment}
          fate={!row.changed ? "kept" : row.after === null ? "popped" : "pushed"}
          was={row.changed && row.after !== null ? row.before : undefined}
        />
      );
    });
  return (
    <>
      <Section name="Stack" testId="stack" count={stack.filter((row) => row.fate !== "popped").length} longest={4}>
        {stack.map((row, i) => (
          <Value
            key={`${i}`}
            model={model}
            path={`stack:${row.fate}${row.depth}`}
            label={row.fate !== "popped" && stack[i - 1] === undefined ? "top" : `${row.depth}`}
            tracker={row.tracker}
            moment={moment}
            fate={row.fate}
          />
        ))}
      </Section>
      <Section name="Locals" testId="locals" count={locals.length} longest={longest(locals)}>
        {slots(locals, "locals")}
      </Section>
      {viewed.code.cells.length > 0 && (
        <Section name="Cells" testId="cells" count={cells.length} longest={longest(cells)}>
          {slots(cells, "cells")}
        </Section>
      )}
    </>
  );
}

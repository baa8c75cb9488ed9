// Panes that come when they are first opened, and what is said where there is nothing to show in them.
//
// They are a module of their own (`panes.tsx`), which most saved notebooks do without: they need a kernel, or a recording of
// a kind that few are.
import { type Signal, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { messageOf } from "../../logic/errors";
import type { Model } from "../../model";
import { imported } from "../../page";
import type * as Panes from "../../panes";
import { shared } from "../../shared";
import type { Node } from "../../schema";
import type { Asked } from "../../store/lru";
import { NO_KERNEL } from "../../stopping";
import { Empty, Said } from "../parts";
import { Column, type DrawingProps } from "./column";

type Name = Exclude<keyof typeof Panes, "Drawing" | "LoweredGraphs" | "UnderNode">;
interface PanesModule {
  panes(from: typeof shared): typeof Panes;
}

/** The module; null before it was asked for. */
export const panes: Signal<Asked<typeof Panes> | null> = signal(null);

async function load(model: Model): Promise<void> {
  if (panes.peek() === "loading") return;
  panes.value = "loading";
  try {
    panes.value = { value: (await imported<PanesModule>(await model.store.panes())).panes(shared) };
  } catch (error) {
    panes.value = { error: messageOf(error) };
  }
}

/** Ask for the module. */
function usePanes(model: Model): Asked<typeof Panes> {
  useEffect(() => {
    if (panes.peek() === null) void load(model);
  }, [model]);
  return panes.value ?? "loading";
}

/** The drawing of a graph: Graphviz's, or what can be drawn without. */
export function Drawing(props: DrawingProps) {
  const asked = usePanes(props.model);
  if (asked === "loading") return <div class="tw-draw" />;
  if ("error" in asked) return <Column {...props} why={asked.error} />;
  return <asked.value.Drawing {...props} />;
}

/** Parts of the graph pane, which are left out until they are there. */
export function UnderNode(props: { model: Model; node: Node }) {
  const asked = usePanes(props.model);
  return typeof asked === "object" && "value" in asked ? <asked.value.UnderNode {...props} /> : null;
}

export function LoweredGraphs(props: { model: Model; graph: number }) {
  const asked = usePanes(props.model);
  return typeof asked === "object" && "value" in asked ? <asked.value.LoweredGraphs {...props} /> : null;
}

function Coming({ model, name }: { model: Model; name: Name }) {
  const asked = usePanes(model);
  if (asked === "loading") return <Empty>Loading…</Empty>;
  if ("error" in asked)
    return (
      <Empty>
        <span role="alert">This cannot be shown: {asked.error}</span>{" "}
        <button type="button" class="tw-link" onClick={() => void load(model)}>try again</button>
      </Empty>
    );
  const Pane = asked.value[name];
  return <Pane model={model} />;
}

/** A pane where there is something to show in it, and a sentence elsewhere. */
const coming =
  (name: Name, missing: (model: Model) => ComponentChildren) =>
  ({ model }: { model: Model }) => {
    const sentence = missing(model);
    return sentence ? <Empty>{sentence}</Empty> : <Coming model={model} name={name} />;
  };

export function NeedsKernel({ what }: { what: string }) {
  return <>In a notebook, with the kernel that made this recording, this pane {what}.</>;
}

export function HowToCompare() {
  return <>To compare two runs, run the traced cell again after a change; or let a cell end with <code>before.diff(after)</code>.</>;
}

export const FixesPane = coming("FixesPane", (model) => !model.canTryFixes && <NeedsKernel what="tries changes that may remove breaks and recompilations" />);

export const Stops = coming(
  "Stops",
  ({ stopping }) =>
    !stopping.possible && (
      <span data-testid="no-kernel">
        <Said text={`${NO_KERNEL} In a notebook, \`t.show()\` also stops where a condition holds, and \`t.steps.where("x changes")\` finds the steps.`} />
      </span>
    ),
);

export const ComparePane = coming(
  "ComparePane",
  ({ comparing, compared, beside }) => !compared && !comparing.value && !beside.isPossible && <><HowToCompare /> <NeedsKernel what="compares the engine with torch.compile" /></>,
);

export const DispatchPane = coming(
  "DispatchPane",
  (model) =>
    model.dispatcher.value.steps.length === 0 && (
      <>
        No step of the dispatcher was recorded. {model.canTrace && "In the Graph pane, a node leads to the steps under it. "}
        <code>tw.trace_dispatch(fn, ...)</code> records those of a function, and <code>%%trace --level dispatch</code> those under each node of the captured
        graphs.
      </>
    ),
);

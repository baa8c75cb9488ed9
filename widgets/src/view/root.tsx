// The whole explorer.
import { Component, type ComponentChildren } from "preact";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { run } from "../commands";
import { breakPlaces } from "../logic/breaks";
import { messageOf } from "../logic/errors";
import { commandFor, HELP } from "../logic/keys";
import type { Model, Tab } from "../model";
import { Frames } from "./frames";
import { Tracers } from "./tracers";
import { BreaksPane } from "./panes/breaks";
import { CallsPane } from "./panes/calls";
import { ComparePane, DispatchPane, FixesPane } from "./panes/coming";
import { EffectsPane } from "./panes/effects";
import { FindPane } from "./panes/find";
import { GeneratedPane } from "./panes/generated";
import { OverviewPane } from "./panes/overview";
import { GraphPane } from "./panes/graph";
import { GuardsPane } from "./panes/guards";
import { RecompilesPane } from "./panes/recompiles";
import { TimingsPane } from "./panes/timings";
import { StoryPane } from "./panes/story";
import { sizesSignal, sizesStyle, Splitter } from "./layout";
import { Empty, Said } from "./parts";
import { Sentence } from "./sentence";
import { Bytecode, Source, SourceTitle } from "./source";
import { TabRow } from "./tabs";
import { useTheme } from "./theme";
import { Legend, Timeline } from "./timeline";
import { Toolbar } from "./toolbar";
import { Values } from "./values";

/** What surrounds an output in a view of its own, in pixels. */
const BESIDE_VIEW = 24;

const PANES: Record<Tab, { label: string; count?: (model: Model) => number; view: (props: { model: Model }) => ComponentChildren }> = {
  overview: { label: "Overview", view: OverviewPane },
  graph: { label: "Graph", view: GraphPane },
  guards: { label: "Guards", view: GuardsPane },
  breaks: {
    label: "Breaks",
    count: ({ meta }) => breakPlaces(meta.breaks, meta.codes).length + meta.notices.length + meta.faults.length + meta.lost.length,
    view: BreaksPane,
  },
  recompiles: { label: "Recompiles", count: (model) => model.meta.recompilations.length, view: RecompilesPane },
  fixes: { label: "Fixes", view: FixesPane },
  calls: { label: "Calls", count: (model) => model.meta.calls.length, view: CallsPane },
  effects: { label: "Side effects", view: EffectsPane },
  generated: { label: "Generated code", view: GeneratedPane },
  dispatch: { label: "Dispatch", count: ({ dispatcher }) => dispatcher.value.steps.length, view: DispatchPane },
  compare: { label: "Compare", view: ComparePane },
  story: { label: "Story", count: ({ meta }) => meta.story.length, view: StoryPane },
  timings: { label: "Timings", view: TimingsPane },
  find: { label: "Find", count: (model) => model.stopping.stops.value.length, view: FindPane },
};

interface GuardedProps {
  model: Model;
  what: string;
  children: ComponentChildren;
}

/** Contain the failure of a pane: it shows an error in its own place, and is rendered again at the next step. */
class Guarded extends Component<GuardedProps, { error: string | null }> {
  override state = { error: null as string | null };
  private stop: (() => void) | null = null;

  static override getDerivedStateFromError(error: unknown): { error: string } {
    return { error: messageOf(error) };
  }

  override componentDidCatch(): void {
    const { position } = this.props.model;
    const failedAt = position.peek();
    this.stop?.();
    this.stop = position.subscribe((step) => {
      if (step !== failedAt) this.setState({ error: null });
    });
  }

  override componentWillUnmount(): void {
    this.stop?.();
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Empty>
        <span role="alert">
          {this.props.what} cannot be shown here: {this.state.error}
        </span>
      </Empty>
    );
  }
}

function Help({ model }: { model: Model }) {
  const box = useRef<HTMLDivElement>(null);
  const shown = model.help.value;
  useEffect(() => {
    if (shown) box.current?.focus();
  }, [shown]);
  if (!shown) return null;
  return (
    <div class="tw-help" role="dialog" aria-label="Keys" tabIndex={-1} ref={box} data-testid="help-dialog">
      <h4>
        Keyboard shortcuts, while the explorer has focus
        <button type="button" class="tw-button" aria-label="Close" onClick={() => run(model, "help")}>
          ×
        </button>
      </h4>
      <dl>
        {HELP.map(({ keys, label }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys.replace("ArrowRight", "→").replace("ArrowLeft", "←")}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <p>
        Steps count from 0, as in <code>trace.steps[57]</code>. Click a line number or an instruction to go to the step where it ran; click a function in
        the call chain to see its values at the call; click a value to open it.
      </p>
    </div>
  );
}

let explorers = 0;

/** An id that no other explorer in the document has. */
function useOwnId(): string {
  return useMemo(() => `tracewalk-${++explorers}-${Math.random().toString(36).slice(2, 8)}`, []);
}

function Tabs({ model, children }: { model: Model; children: ComponentChildren }) {
  const chosen = model.tab.value;
  const Pane = PANES[chosen].view;
  const id = useOwnId();
  return (
    <>
      <TabRow model={model} id={id} labels={PANES}>
        {children}
      </TabRow>
      <div class="tw-pane" role="tabpanel" id={`${id}-pane`} aria-labelledby={`${id}-${chosen}`} data-testid="pane" data-pane={chosen}>
        <Guarded key={chosen} model={model} what="This pane">
          <Pane model={model} />
        </Guarded>
      </div>
    </>
  );
}

/** Whether the pane takes the place of source and values. */
function Maximise({ model }: { model: Model }) {
  const shown = model.maximised.value;
  const label = shown ? "Show source and values too" : "Show this pane alone";
  return (
    <button type="button" class="tw-button tw-maximise" data-testid="maximise" aria-pressed={shown} aria-label={label} title={`${label} (x)`} onClick={() => run(model, "maximise")}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={shown ? "M2.5 6.5h4v-4M13.5 9.5h-4v4M6.5 6.5 2 2M9.5 9.5 14 14" : "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9"} class="tw-stroke" />
      </svg>
    </button>
  );
}

/** In a view of its own, an output is as high as that view; in pixels, null elsewhere. */
function useViewHeight(root: RefObject<HTMLElement | null>): number | null {
  const [height, setHeight] = useState<number | null>(null);
  useEffect(() => {
    const view = root.current?.closest<HTMLElement>(".jp-LinkedOutputView");
    if (!view) return;
    const measure = (): void => setHeight(Math.max(360, view.clientHeight - BESIDE_VIEW));
    const watch = new ResizeObserver(measure);
    watch.observe(view);
    measure();
    return () => watch.disconnect();
  }, []);
  return height;
}

/** Whether letters and arrows typed into `target` are its own. */
function takesText(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable=true]");
}

/** Whether a key press is one of the page's commands (Ctrl+S), and not one of ours. */
const isChord = (event: KeyboardEvent): boolean => event.ctrlKey || event.metaKey;

/** JupyterLab handles keys before they arrive here, unless an attribute says not to. Let chords through, all the same.
 * Returns a function that stops it. */
function leaveChords(root: HTMLElement | null): () => void {
  const before = (event: KeyboardEvent): void => {
    if (!root || !(event.target instanceof Node) || !root.contains(event.target)) return;
    if (isChord(event)) root.removeAttribute("data-lm-suppress-shortcuts");
    else root.setAttribute("data-lm-suppress-shortcuts", "true");
  };
  window.addEventListener("keydown", before, true);
  return () => window.removeEventListener("keydown", before, true);
}

/** Give the focus back to what surrounds the explorer: in a notebook, the cell. */
function leave(root: HTMLElement | null): void {
  root?.blur();
  root?.parentElement?.closest<HTMLElement>("[tabindex]")?.focus();
}

export function Root({ model, height }: { model: Model; height: number | null }) {
  const root = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const sizes = useMemo(sizesSignal, []);
  const inView = useViewHeight(root);
  const high = inView ?? height;
  useEffect(() => model.prefetch(), [model]);

  useEffect(() => leaveChords(root.current), []);

  const onKeyDown = (event: KeyboardEvent): void => {
    // Letters and arrows typed here may not reach the notebook's own keys; Ctrl+S and its kind must.
    if (isChord(event)) return;
    event.stopPropagation();
    const command = commandFor(event, takesText(event.target));
    if (command === null) return;
    event.preventDefault();
    if (command === "find") root.current?.querySelector<HTMLInputElement>('[data-testid="find"]')?.focus();
    else if (command === "close" && event.target === root.current && !model.isCovered) leave(root.current);
    else {
      if (command === "close" || (command === "help" && model.help.value)) root.current?.focus();
      run(model, command);
    }
  };

  const empty = model.meta.steps === 0;
  return (
    <div
      ref={root}
      class="tw-root"
      data-testid="explorer"
      data-theme={theme}
      data-look={model.look.value}
      data-lm-suppress-shortcuts="true"
      tabIndex={0}
      role="region"
      aria-label={`Trace explorer: ${model.meta.label}`}
      style={{ ...sizesStyle(sizes.value), ...(high === null ? {} : { "--tw-height": `${high}px` }) }}
      onKeyDown={onKeyDown}
    >
      <div class={`tw-frame-all${empty ? " tw-without-steps" : ""}${model.maximised.value && !empty ? " tw-maximised" : ""}`}>
        {empty ? (
          <Empty>{model.meta.dispatcher.steps.length > 0 ? "This recording has steps of the dispatcher alone." : "No step was recorded, so there is nothing to step through. The overview says why."}</Empty>
        ) : (
          <>
            <div class="tw-head">
              {model.note !== "" && <p class="tw-note" role="note" data-testid="note"><Said text={model.note} /></p>}
              <Toolbar model={model} />
              <div class="tw-timeline-row">
                <Timeline model={model} theme={theme} />
                <Legend model={model} />
              </div>
              <Sentence model={model} />
            </div>
            <div class="tw-main">
              <div class="tw-box tw-box-frames">
                <h3>Frames</h3>
                <Guarded model={model} what="The call chain"><Frames model={model} /></Guarded>
                <Guarded model={model} what="The stack of graphs"><Tracers model={model} /></Guarded>
              </div>
              <div class="tw-box tw-box-code">
                <Splitter sizes={sizes} name="frames" label="Width of the frames" />
                <h3><SourceTitle model={model} /></h3>
                <Guarded model={model} what="The source"><Source model={model} /></Guarded>
                <Guarded model={model} what="The bytecode"><Bytecode model={model} /></Guarded>
              </div>
              <div class="tw-box tw-box-values">
                <Splitter sizes={sizes} name="values" label="Width of the values" />
                <h3>Values <span class="tw-dim">before → after this step</span></h3>
                <div class="tw-values" tabIndex={0} role="group" aria-label="Values">
                  <Guarded model={model} what="The values"><Values model={model} /></Guarded>
                </div>
              </div>
            </div>
          </>
        )}
        <Tabs model={model}>
          {!empty && <Maximise model={model} />}
          {!empty && !model.maximised.value && <Splitter sizes={sizes} name="main" label="Height of source and values" />}
        </Tabs>
        <Help model={model} />
      </div>
    </div>
  );
}

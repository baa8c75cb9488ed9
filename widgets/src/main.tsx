// Two entry points: anywidget calls `render`; in a stand-alone page the module finds its element and data itself.
import { effect } from "@preact/signals";
import { render as draw } from "preact";
import { followAddress, stepIn } from "./address";
import { Model } from "./model";
import { type Channel, KernelStore } from "./store/kernel";
import { PageStore } from "./store/page";
import type { Store } from "./store/store";
import { SCHEMA_VERSION } from "./schema";
import { Root } from "./view/root";
import "./style/explorer.css";
import "./style/dispatch.css";
import "./style/layout.css";
import "./style/timeline.css";

/** The part of anywidget's model that is used here. */
export interface WidgetModel extends Channel {
  get(name: "position" | "height"): number;
  get(name: "failed_attempts"): boolean;
  get(name: "my_code"): string[];
  set(name: "position", value: number): void;
  save_changes(): void;
  on(name: "msg:custom", callback: (content: unknown, buffers: DataView[]) => void): void;
  on(name: "change:position", callback: () => void): void;
  off(name: "msg:custom", callback: (content: unknown, buffers: DataView[]) => void): void;
  off(name: "change:position", callback: () => void): void;
}

const SLOW = 1500;

function say(element: HTMLElement, text: string, role: "status" | "alert"): void {
  const paragraph = document.createElement("p");
  paragraph.className = "tw-say";
  paragraph.setAttribute("role", role);
  paragraph.textContent = text;
  element.replaceChildren(paragraph);
}

/** Load the trace's tables and show the explorer in `element`. Failures are shown there in one sentence. */
async function show(element: HTMLElement, store: Store, position: number, height: number | null, myCode: readonly string[]): Promise<Model | null> {
  const slow = window.setTimeout(() => {
    if (element.childElementCount === 0) say(element, "Waiting for the trace: the kernel may be busy, or is not running.", "status");
  }, SLOW);
  try {
    const meta = await store.meta();
    if (meta.version !== SCHEMA_VERSION)
      throw new Error(`it has format ${meta.version} and this explorer reads format ${SCHEMA_VERSION}. Use one version of tracewalk for both.`);
    const model = new Model(meta, store, position, myCode);
    element.replaceChildren();
    draw(<Root model={model} height={height} />, element);
    return model;
  } catch (error) {
    say(element, `The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`, "alert");
    return null;
  } finally {
    window.clearTimeout(slow);
  }
}

/** Keep the model's position and the widget's the same, without flooding the kernel while a key is held. */
function sync(model: Model, widget: WidgetModel): () => void {
  let timer = 0;
  const follow = (): void => {
    if (widget.get("position") !== model.position.peek()) model.go(widget.get("position"));
  };
  const stop = effect(() => {
    const at = model.position.value;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (widget.get("position") === at) return;
      widget.set("position", at);
      widget.save_changes();
    }, 60);
  });
  widget.on("change:position", follow);
  return () => {
    stop();
    window.clearTimeout(timer);
    widget.off("change:position", follow);
  };
}

async function render({ model: widget, el }: { model: WidgetModel; el: HTMLElement }): Promise<() => void> {
  const store = new KernelStore(widget);
  const place = document.createElement("div");
  el.append(place);
  const cleanups = [() => store.close(), () => draw(null, place)];
  void show(place, store, widget.get("position"), widget.get("height"), widget.get("my_code")).then((model) => {
    if (!model) return;
    if (widget.get("failed_attempts")) model.showFailed(true);
    cleanups.push(sync(model, widget));
  });
  return () => {
    for (const clean of cleanups.reverse()) clean();
  };
}

function mountPage(): void {
  const place = document.querySelector<HTMLElement>("[data-tracewalk-page]");
  if (!place) return;
  void show(place, new PageStore(document), stepIn(location.hash) ?? 0, null, JSON.parse(place.dataset["myCode"] ?? "[]") as string[]).then(
    (model) => model && followAddress(model),
  );
}

mountPage();

export default { render };

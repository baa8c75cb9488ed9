// One explorer in one element of the page: loading its trace, showing it, keeping a widget's position the same.
import { effect } from "@preact/signals";
import { render as draw } from "preact";
import { followAddress } from "./address";
import { offerGraphviz } from "./origins";
import { messageOf } from "./logic/errors";
import { Model, TABS } from "./model";
import { SCHEMA_VERSION } from "./schema";
import type { Store } from "./store/store";
import { Pair } from "./view/pair";
import { styled } from "./view/sheets";
import type { WidgetModel } from "./widget";

/** What an explorer starts with; the names are those of the widget's traits. */
export interface Settings {
  position: number;
  height: number | null;
  failed_attempts: boolean;
  my_code: readonly string[];
  /** The pane that is open first. */
  pane: string;
  /** A sentence to show above everything. */
  note: string;
  /** Whether there is another recording to compare with. */
  compared: boolean;
}

export const DEFAULTS: Settings = { position: 0, height: null, failed_attempts: false, my_code: [], pane: "overview", note: "", compared: false };

export function settingsOf(widget: WidgetModel): Settings {
  return {
    position: widget.get("position"),
    height: widget.get("height"),
    failed_attempts: widget.get("failed_attempts"),
    my_code: widget.get("my_code"),
    pane: widget.get("pane"),
    note: widget.get("note"),
    compared: widget.get("compared"),
  };
}

const SLOW = 1500;

export class Shown {
  private model: Model | null = null;
  private widget: WidgetModel | null = null;
  private stops: (() => void)[] = [];
  private loading = false;
  private up = false;

  /** `element` is for the explorer alone. */
  constructor(
    private readonly element: HTMLElement,
    private readonly store: Store,
    private readonly settings: Settings,
  ) {}

  /** Show it. Failures are shown in one sentence; `waiting` is shown while the trace does not come. */
  async show(waiting: string): Promise<void> {
    this.up = true;
    styled(this.element);
    if (this.model) return this.draw(this.model);
    if (this.loading) return;
    this.loading = true;
    const slow = setTimeout(() => waiting && this.say(waiting, "status"), SLOW);
    try {
      this.model = await this.load();
      if (this.up) this.draw(this.model);
    } catch (error) {
      this.say(`The trace cannot be shown: ${messageOf(error)}`, "alert");
    } finally {
      clearTimeout(slow);
      this.loading = false;
    }
  }

  /** Take it from the page; its state stays, for `show`. */
  hide(): void {
    this.up = false;
    for (const stop of this.stops.splice(0)) stop();
    draw(null, this.element);
  }

  /** Keep the position of `widget` the same. */
  follow(widget: WidgetModel | null): void {
    this.widget = widget;
    if (widget) this.model?.comparing.value?.retry();
    if (this.up && this.model) this.draw(this.model);
  }

  /** Keep the page's address the same as the position. */
  followAddress(): void {
    if (this.model) followAddress(this.model);
  }

  private async load(): Promise<Model> {
    const { position, failed_attempts, my_code, pane, note, compared } = this.settings;
    const meta = await this.store.meta();
    if (meta.version !== SCHEMA_VERSION)
      throw new Error(`it has format ${meta.version} and this explorer reads format ${SCHEMA_VERSION}. Use one version of tracewalk for both.`);
    const model = new Model(meta, this.store, position, my_code, compared);
    model.note = note;
    if (failed_attempts) model.showFailed(true);
    if (pane === "story") model.tell(0);
    else if (pane !== "overview") model.tab.value = TABS.find((tab) => tab === pane) ?? model.tab.value;
    return model;
  }

  private draw(model: Model): void {
    for (const stop of this.stops.splice(0)) stop();
    if (this.element.querySelector(".tw-say")) this.element.replaceChildren();
    this.stops.push(offerGraphviz(() => this.store.graphviz()));
    if (this.widget) this.stops.push(sync(model, this.widget));
    draw(<Pair model={model} height={this.settings.height} />, this.element);
  }

  private say(text: string, role: "status" | "alert"): void {
    const paragraph = document.createElement("p");
    paragraph.className = "tw-say";
    paragraph.setAttribute("role", role);
    paragraph.textContent = text;
    this.element.replaceChildren(paragraph);
  }
}

/** Keep the model's position and the widget's the same, without flooding the kernel while a key is held. */
function sync(model: Model, widget: WidgetModel): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = (): void => {
    if (widget.get("position") !== model.position.peek()) model.go(widget.get("position"));
  };
  const stop = effect(() => {
    const at = model.position.value;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (widget.get("position") === at) return;
      widget.set("position", at);
      try {
        widget.save_changes();
      } catch {
        model.retry(); // the kernel is gone, which the store says where it matters
      }
    }, 60);
  });
  widget.on("change:position", follow);
  return () => {
    stop();
    clearTimeout(timer);
    widget.off("change:position", follow);
  };
}

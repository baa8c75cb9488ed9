// Places of explorers in a notebook's saved output: an element with the static overview, and perhaps with the recording.
//
// The explorer takes the overview's place while it can be shown: from the recording in the element, else from the kernel,
// once the place's widget is there. Where neither is, the overview stays.
import { DEFAULTS, Shown, type Settings, settingsOf } from "./show";
import { KernelStore } from "./store/kernel";
import { blocksIn, PageStore } from "./store/page";
import type { WidgetModel } from "./widget";

interface Live {
  widget: WidgetModel;
  store: KernelStore;
}

/** The classes by which JupyterLab styles the HTML of outputs, tables and code in the explorer included. */
const STYLED = "jp-RenderedHTMLCommon";

/** The places and the widgets of one page. */
export class Places {
  private readonly live = new Map<string, Live>();
  private readonly places = new Map<string, Set<Place>>();

  attach(widget: WidgetModel): () => void {
    const name = widget.get("_place");
    const live = { widget, store: new KernelStore(widget) };
    this.live.set(name, live);
    this.tell(name);
    return () => {
      live.store.lost();
      live.store.close();
      if (this.live.get(name) === live) this.live.delete(name);
      this.tell(name);
    };
  }

  find(name: string): Live | null {
    return this.live.get(name) ?? null;
  }

  add(place: Place): void {
    const all = this.places.get(place.name) ?? new Set();
    this.places.set(place.name, all.add(place));
  }

  remove(place: Place): void {
    this.places.get(place.name)?.delete(place);
  }

  private tell(name: string): void {
    for (const place of this.places.get(name) ?? []) place.changed();
  }

  /** Define the element of this name, whose instances are then found by the browser. */
  define(name: string): void {
    const places = this;
    const element = class extends Place {
      override readonly places = places;
    };
    if (!customElements.get(name)) customElements.define(name, element);
  }
}

export abstract class Place extends HTMLElement {
  abstract readonly places: Places;
  private shown: Shown | null = null;
  /** Where the recording comes from, unless this element contains it. */
  private kernel: KernelStore | null = null;
  private readonly stage = document.createElement("div");
  private box: Element | null = null;

  get name(): string {
    return this.overview?.dataset["place"] ?? "";
  }

  /** The element with the static overview, and with what is known of the explorer. */
  private get overview(): HTMLElement | null {
    return this.querySelector<HTMLElement>(":scope > [data-place]");
  }

  connectedCallback(): void {
    if (!this.overview) {
      // The page is being read, and has come to the start of this element.
      document.addEventListener("DOMContentLoaded", () => this.isConnected && this.overview && this.connectedCallback(), { once: true });
      return;
    }
    this.places.add(this);
    this.changed();
  }

  disconnectedCallback(): void {
    this.places.remove(this);
    this.shown?.hide();
    this.box?.classList.add(STYLED);
    this.box = null;
  }

  /** Show the explorer, if it can be shown now. */
  changed(): void {
    const live = this.places.find(this.name);
    if (live && this.kernel && live.store !== this.kernel) {
      this.shown?.hide(); // the notebook has connected to the kernel again
      this.shown = null;
    }
    this.shown ??= this.made(live);
    if (!this.shown) return;
    this.shown.follow(live?.widget ?? null);
    void this.shown.show("").then(() => this.cover());
  }

  private made(live: Live | null): Shown | null {
    const { recording, settings } = this.overview?.dataset ?? {};
    if (recording) {
      const store = new PageStore(blocksIn(recording), () => this.places.find(this.name)?.store ?? null);
      return new Shown(this.stage, store, { ...DEFAULTS, ...(JSON.parse(settings ?? "{}") as Partial<Settings>) });
    }
    if (!live) return null;
    this.kernel = live.store;
    return new Shown(this.stage, live.store, settingsOf(live.widget));
  }

  /** Let the explorer, or the sentence that says why there is none, stand in the overview's place. */
  private cover(): void {
    if (!this.isConnected || this.stage.childElementCount === 0) return;
    this.box ??= this.closest(`.${STYLED}`);
    this.box?.classList.remove(STYLED);
    const { overview } = this;
    if (overview) overview.hidden = this.stage.querySelector(".tw-root") !== null;
    if (this.stage.parentElement !== this) this.append(this.stage);
  }
}

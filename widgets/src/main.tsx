// The front end: shows explorers in a notebook's output, in a widget's view, and in a stand-alone page.
import { stepIn } from "./address";
import type { FrontEnd } from "./page";
import { Places } from "./place";
import { DEFAULTS, type Settings, Shown, settingsOf } from "./show";
import { KernelStore } from "./store/kernel";
import { blocksOf, PageStore } from "./store/page";
import type { WidgetModel } from "./widget";
import "./style/explorer.css";
import "./style/graph.css";
import "./style/find.css";
import "./style/layout.css";
import "./style/timeline.css";
import "./style/story.css";

const WAITING = "Waiting for the trace: the kernel may be busy, or is not running.";

function render(widget: WidgetModel, el: HTMLElement): () => void {
  const store = new KernelStore(widget);
  const place = document.createElement("div");
  el.append(place);
  const shown = new Shown(place, store, settingsOf(widget));
  shown.follow(widget);
  void shown.show(WAITING);
  return () => {
    shown.hide();
    store.close();
  };
}

/** Start the front end in a notebook. `build` is the one that the outputs name. */
export function start(build: string): FrontEnd {
  const places = new Places();
  places.define(`tracewalk-${build}`);
  return { attach: (widget) => places.attach(widget), render };
}

function mountPage(): void {
  const place = document.querySelector<HTMLElement>("[data-tracewalk-page]");
  if (!place) return;
  const position = stepIn(location.hash) ?? 0;
  const given = JSON.parse(place.dataset["settings"] ?? "{}") as Partial<Settings>;
  const shown = new Shown(place, new PageStore(blocksOf(document)), { ...DEFAULTS, ...given, position });
  void shown.show("").then(() => shown.followAddress());
}

mountPage();

// What each command does to the model. Keys and buttons run them by name.
import type { Signal } from "@preact/signals";
import type { Command } from "./logic/keys";
import { type By, caller, into, out, over, overBody, start, WAYS } from "./logic/navigate";
import { type Model, TABS } from "./model";

/** A way to another step; where there is none, a sentence says so. */
interface Walk {
  to(model: Model, step: number): number | null;
  none: string;
}

const by = (way: By | "chosen", direction: "next" | "previous", none: string): Walk => ({
  to: (model, step) => WAYS[way === "chosen" ? model.by.value : way][direction](model.ground, step),
  none,
});
const NONE_LEFT = "There is none after this step.";
const NONE_BEFORE = "There is none before this step.";
const OUTERMOST = "This is the outermost function.";

const WALKS: Partial<Record<Command, Walk>> = {
  next: by("chosen", "next", NONE_LEFT),
  previous: by("chosen", "previous", NONE_BEFORE),
  first: { to: (model) => start(model.ground), none: "" },
  last: { to: (model) => model.visible.value.last, none: "" },
  nextLine: by("line", "next", NONE_LEFT),
  previousLine: by("line", "previous", NONE_BEFORE),
  into: { to: (model, step) => into(model.ground, step), none: "This function makes no further call that was traced." },
  over: { to: (model, step) => over(model.ground, step), none: NONE_LEFT },
  out: { to: (model, step) => out(model.ground, step), none: OUTERMOST },
  caller: { to: (model, step) => caller(model.ground, step), none: OUTERMOST },
  nextNode: by("node", "next", NONE_LEFT),
  previousNode: by("node", "previous", NONE_BEFORE),
  nextBody: by("body", "next", "No body of an operator begins after this step."),
  previousBody: by("body", "previous", "No body of an operator begins before this step."),
  overBody: { to: (model, step) => overBody(model.ground, step), none: "This step is not in the body of an operator, and calls none." },
  nextGuard: by("guard", "next", NONE_LEFT),
  previousGuard: by("guard", "previous", NONE_BEFORE),
  nextPlace: by("place", "next", "The graph breaks at no other place after this step."),
  nextBreak: by("break", "next", NONE_LEFT),
};

const flip = (shown: Signal<boolean>): void => {
  shown.value = !shown.value;
};

const goToTab = (model: Model, by: 1 | -1): void => {
  model.tab.value = TABS.at((TABS.indexOf(model.tab.value) + by) % TABS.length) ?? model.tab.value;
};

const OTHERS: Partial<Record<Command, (model: Model) => void>> = {
  nextStop: (model) => model.stopping.go("next"),
  previousStop: (model) => model.stopping.go("previous"),
  nextChange: (model) => model.stopping.goToChange("next"),
  lastChange: (model) => model.stopping.goToChange("previous"),
  back: (model) => model.goInHistory("back"),
  forward: (model) => model.goInHistory("forward"),
  nextStation: (model) => model.tell((model.station.value ?? -1) + 1),
  previousStation: (model) => model.tell((model.station.value ?? 1) - 1),
  nextPane: (model) => goToTab(model, 1),
  previousPane: (model) => goToTab(model, -1),
  maximise: (model) => flip(model.maximised),
  bytecode: (model) => flip(model.bytecode),
  mine: (model) => flip(model.mine),
  help: (model) => flip(model.help),
  zoomIn: (model) => model.zoom(0.5),
  zoomOut: (model) => model.zoom(2),
  close: (model) => {
    model.help.value = false;
    model.notice.value = "";
    model.frame.value = null;
  },
};

/** Execute a command. Where it cannot be, the model's notice says why. */
export function run(model: Model, command: Command): void {
  const walk = WALKS[command];
  if (walk) {
    const to = walk.to(model, model.position.value);
    if (to === null) model.notice.value = walk.none;
    else model.go(to, "step");
  } else if (command.startsWith("pane")) model.tab.value = TABS[Number(command.slice(4))] ?? model.tab.value;
  else OTHERS[command]?.(model);
}

// What each command does to the model. Keys and buttons run them by name.
import type { Signal } from "@preact/signals";
import type { Command } from "./logic/keys";
import { type By, caller, into, out, over, overBody, start, WAYS } from "./logic/navigate";
import { type Model, TABS } from "./model";

/** A way to another step; where there is none, a sentence says so. */
interface Walk {
  to(model: Model, step: number): number | null;
  none(model: Model): string;
}

const by = (way: By | "chosen", direction: "next" | "previous"): Walk => ({
  to: (model, step) => WAYS[way === "chosen" ? model.by.value : way][direction](model.ground, step),
  none: (model) => noneLeft(model, WAYS[way === "chosen" ? model.by.value : way].label, direction),
});

/** Say that there is no `what` that way, and that there may be some without "just my code". */
function noneLeft(model: Model, what: string, direction: "next" | "previous"): string {
  const [thing] = what.split(",");
  const where = direction === "next" ? "after" : "before";
  return model.mine.value ? `There is no ${thing} of your code ${where} this step (j: libraries too).` : `There is no ${thing} ${where} this step.`;
}
const said = (sentence: string) => (): string => sentence;
const OUTERMOST = "This is the outermost function.";

const WALKS: Partial<Record<Command, Walk>> = {
  next: by("chosen", "next"),
  previous: by("chosen", "previous"),
  first: { to: (model) => start(model.ground), none: said("") },
  last: { to: (model) => model.visible.value.last, none: said("") },
  nextLine: by("line", "next"),
  previousLine: by("line", "previous"),
  into: { to: (model, step) => into(model.ground, step), none: said("This function makes no further call that was traced.") },
  over: { to: (model, step) => over(model.ground, step), none: (model) => noneLeft(model, "instruction", "next") },
  out: { to: (model, step) => out(model.ground, step), none: said(OUTERMOST) },
  caller: { to: (model, step) => caller(model.ground, step), none: said(OUTERMOST) },
  nextNode: by("node", "next"),
  previousNode: by("node", "previous"),
  nextBody: { ...by("body", "next"), none: said("No body of an operator begins after this step.") },
  previousBody: { ...by("body", "previous"), none: said("No body of an operator begins before this step.") },
  overBody: { to: (model, step) => overBody(model.ground, step), none: said("This step is not in the body of an operator, and calls none.") },
  nextGuard: by("guard", "next"),
  previousGuard: by("guard", "previous"),
  nextPlace: { ...by("place", "next"), none: said("The graph breaks at no other place after this step.") },
  nextBreak: by("break", "next"),
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
    if (to === null) model.notice.value = walk.none(model);
    else model.go(to, "step");
  } else if (command.startsWith("pane")) model.tab.value = TABS[Number(command.slice(4))] ?? model.tab.value;
  else OTHERS[command]?.(model);
}

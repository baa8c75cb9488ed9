// The keys and their commands. One table: the handler, the help and the tests read it.

export type Command =
  | "next" | "previous" | "first" | "last" | "nextLine" | "previousLine" | "into" | "over" | "out" | "caller"
  | "nextGuard" | "previousGuard" | "nextPlace" | "nextBreak" | "mine" | "nextStation" | "previousStation" | "nextNode" | "previousNode" | "nextBody" | "previousBody" | "overBody"
  | "nextStop" | "previousStop" | "lastChange" | "nextChange" | "find" | "help" | "close"
  | "back" | "forward" | "maximise" | "bytecode" | "zoomIn" | "zoomOut" | "nextPane" | "previousPane" | `pane${number}`;

export interface Binding {
  key: string;
  command: Command;
  label: string;
}

/** A row of the help. */
export interface Listed {
  keys: string;
  label: string;
}

export const KEYS: readonly Binding[] = [
  { key: "ArrowRight", command: "next", label: "next, by the unit chosen in the toolbar" },
  { key: "ArrowLeft", command: "previous", label: "back, by the unit chosen in the toolbar" },
  { key: "Home", command: "first", label: "first step" },
  { key: "End", command: "last", label: "last step" },
  { key: "n", command: "nextLine", label: "next line" },
  { key: "p", command: "previousLine", label: "previous line" },
  { key: "i", command: "into", label: "into the next call of this function" },
  { key: "v", command: "over", label: "over the call, to the next instruction of this function" },
  { key: "o", command: "out", label: "out of this function, to the step after its call" },
  { key: "c", command: "caller", label: "back to the call of this function" },
  { key: "m", command: "nextNode", label: "next node" },
  { key: "M", command: "previousNode", label: "previous node" },
  { key: "e", command: "nextBody", label: "into the next body of an operator" },
  { key: "E", command: "previousBody", label: "back to where a body of an operator begins" },
  { key: "s", command: "overBody", label: "over the body of an operator" },
  { key: "g", command: "nextGuard", label: "next guard" },
  { key: "G", command: "previousGuard", label: "previous guard" },
  { key: "b", command: "nextPlace", label: "next place where the graph breaks" },
  { key: "B", command: "nextBreak", label: "next graph break, also at the same place" },
  { key: "t", command: "nextStation", label: "next station of the story" },
  { key: "T", command: "previousStation", label: "previous station of the story" },
  { key: "w", command: "nextStop", label: "on to where a condition of the Find pane holds" },
  { key: "W", command: "previousStop", label: "back to where a condition of the Find pane holds" },
  { key: "r", command: "lastChange", label: "back to the last change of the value that was clicked" },
  { key: "R", command: "nextChange", label: "on to the next change of the value that was clicked" },
  { key: "j", command: "mine", label: "just my code, or libraries too" },
  ...Array.from({ length: 9 }, (_, i): Binding => ({ key: `${i + 1}`, command: `pane${i}`, label: `pane ${i + 1} below` })),
  { key: "[", command: "previousPane", label: "previous pane" },
  { key: "]", command: "nextPane", label: "next pane" },
  { key: "x", command: "maximise", label: "only the pane, or source and values too" },
  { key: "y", command: "bytecode", label: "show or hide the bytecode" },
  { key: "+", command: "zoomIn", label: "fewer steps in the timeline" },
  { key: "-", command: "zoomOut", label: "more steps in the timeline" },
  { key: "Alt+ArrowLeft", command: "back", label: "back to where you were" },
  { key: "Alt+ArrowRight", command: "forward", label: "forward again" },
  { key: "/", command: "find", label: "find" },
  { key: "?", command: "help", label: "show or hide this help" },
  { key: "Escape", command: "close", label: "close what is open; then, back to the cell" },
];

/** What the help shows: the keys 1 to 9 in one row. */
export const HELP: readonly Listed[] = KEYS.flatMap(({ key, command, label }): Listed[] => {
  if (!command.startsWith("pane")) return [{ keys: key, label }];
  return command === "pane0" ? [{ keys: "1 … 9", label: "the first, second, ... pane" }] : [];
});

const TABLE = new Map(KEYS.map((binding) => [binding.key, binding.command]));

/** The command of a key press. `typing` is true in a text field, where letters and arrows belong to the text. */
export function commandFor(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">, typing: boolean): Command | null {
  if (event.ctrlKey || event.metaKey) return null;
  const command = TABLE.get(event.altKey ? `Alt+${event.key}` : event.key) ?? null;
  return typing && command !== "close" ? null : command;
}

// The front ends that run in this page, each once, by build; shared by all modules of tracewalk in it.
import type { WidgetModel } from "./widget";

export interface FrontEnd {
  /** Connect the places of a widget with it, until the returned function is called. */
  attach(widget: WidgetModel): () => void;
  /** Show a widget in `el`, until the returned function is called. */
  render(widget: WidgetModel, el: HTMLElement): () => void;
}

export interface FrontEndModule {
  start(build: string): FrontEnd;
}

const KEY = Symbol.for("tracewalk");
type Shared = { [KEY]?: Map<string, Promise<FrontEnd>> };

export function frontEnds(): Map<string, Promise<FrontEnd>> {
  return ((globalThis as Shared)[KEY] ??= new Map());
}

/** Import a module from its text. */
export async function imported<T>(text: BlobPart): Promise<T> {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(url)) as T;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Return the running front end of `build`; where there is none, start it from its text. It is forgotten if that fails, so
 * that the next one who asks tries again. */
export function started(build: string, text: () => Promise<BlobPart>): Promise<FrontEnd> {
  const all = frontEnds();
  const starting = text().then(async (code) => (await imported<FrontEndModule>(code)).start(build));
  all.set(build, starting);
  starting.catch(() => {
    if (all.get(build) === starting) all.delete(build);
  });
  return starting;
}

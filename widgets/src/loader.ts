// The widget's own module, which anywidget keeps in each widget's state: small, since the state may be saved in notebooks.
// It gets the front end from the kernel, once a page.
import { type FrontEnd, frontEnds, started } from "./page";
import type { WidgetModel } from "./widget";

/** So long another widget's kernel may take to send the front end before this one's kernel is asked, too. */
const PATIENCE = 3000;
/** So long a view is empty before it says that it waits. */
const SLOW = 1500;

function ask(widget: WidgetModel): Promise<BlobPart> {
  const id = "front-end";
  return new Promise((resolve, reject) => {
    const answered = (content: unknown, [buffer]: DataView[]): void => {
      if ((content as { id: unknown }).id !== id) return;
      widget.off("msg:custom", answered);
      if (buffer) resolve(buffer as DataView<ArrayBuffer>);
      else reject(new Error("The kernel sent no front end."));
    };
    widget.on("msg:custom", answered);
    widget.send({ id, ask: id, index: 0 });
  });
}

async function frontEnd(widget: WidgetModel): Promise<FrontEnd> {
  const build = widget.get("_build");
  const there = frontEnds().get(build);
  if (there) {
    const first = await Promise.race([there.catch(() => null), new Promise<null>((resolve) => setTimeout(resolve, PATIENCE, null))]);
    if (first) return first;
  }
  return started(build, () => ask(widget));
}

/** Do `then` with the front end, once it is there, and undo it when the returned function is called. */
function withFrontEnd(widget: WidgetModel, then: (app: FrontEnd) => () => void): () => void {
  let undo: (() => void) | null = null;
  let over = false;
  frontEnd(widget).then(
    (app) => {
      if (!over) undo = then(app);
    },
    (error: unknown) => console.warn("tracewalk:", error),
  );
  return () => {
    over = true;
    undo?.();
  };
}

export default {
  /** Nothing is awaited here: anywidget handles no message before this has returned. */
  initialize({ model }: { model: WidgetModel }): () => void {
    return withFrontEnd(model, (app) => app.attach(model));
  },
  render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
    const say = setTimeout(() => {
      el.textContent = "This explorer is kept in the kernel, which has not answered yet. If the kernel was restarted, run the cell again.";
    }, SLOW);
    const undo = withFrontEnd(model, (app) => {
      clearTimeout(say);
      el.textContent = "";
      return app.render(model, el);
    });
    return () => {
      clearTimeout(say);
      undo();
    };
  },
};

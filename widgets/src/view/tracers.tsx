// The stack of graphs that are being built at a step: the frame's own, and in it those of operators' bodies.
import { useLayoutEffect, useRef } from "preact/hooks";
import { bodyTitle, shortName } from "../logic/bodies";
import type { Model } from "../model";
import { codeLabel } from "./parts";

/** Only where the recording has bodies. The innermost graph, which gets the nodes of this step, is the current one. */
export function Tracers({ model }: { model: Model }) {
  const { meta, index } = model;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [model.position.value]);
  if (meta.bodies.length === 0 || meta.steps === 0) return null;
  const step = model.position.value;
  const bodies = index.bodiesAt(step);
  const compilation = meta.compilations[index.attemptAt(step).compilation];
  const rows = [
    { id: null, text: compilation ? codeLabel(model, compilation.code) : "?", title: "The graph of the function itself" },
    ...bodies.map((body) => ({ id: body.id, text: bodyTitle(body), title: body.text })),
  ];
  return (
    <div class="tw-tracers">
      <h3 title="Nodes go into the innermost of these graphs">Graphs being built</h3>
      <div class="tw-tracers-list" ref={list} data-testid="tracers" role="group" aria-label="Graphs being built, outermost first" tabIndex={0}>
        {rows.map(({ id, text, title }, depth) => (
          <button
            key={id}
            type="button"
            class={`tw-tracer${depth === rows.length - 1 ? " tw-current" : ""}`}
            aria-current={depth === rows.length - 1 ? "true" : undefined}
            style={{ paddingLeft: `${8 + depth * 10}px` }}
            title={id === null ? title : `${title} Click to go to its first step`}
            onClick={() => {
              if (id === null) model.tab.value = "graph";
              else model.openBody(id);
            }}
          >
            <span class="tw-tracer-name">{id === null ? shortName(text) : text}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

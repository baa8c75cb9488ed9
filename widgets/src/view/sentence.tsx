// The sentence of a step, with links to the nodes, guards and breaks it added.
import { useRef } from "preact/hooks";
import type { Model } from "../model";
import { Said } from "./parts";

export function Sentence({ model }: { model: Model }) {
  const step = model.position.value;
  const last = useRef("");
  const asked = model.meta.steps > 0 ? model.stepView(step) : "loading";
  // What a kernel in trouble has not sent may never come: the sentence of the step before is not shown for it.
  const loading = asked === "loading" && model.trouble === "";
  if (!loading) last.current = asked !== "loading" && "value" in asked ? asked.value.sentence : "";
  const { index } = model;
  const nodes = index.nodes.get(step);
  const guards = index.guards.get(step);
  const breaks = index.breaks.get(step);
  const handlers = asked !== "loading" && "value" in asked ? asked.value.handlers : [];
  return (
    <div class="tw-sentence">
      <p data-testid="sentence" role="status" aria-live="polite" aria-busy={loading} title={handlers.length > 0 ? `handled by ${handlers.join(", ")}` : undefined}>
        <Said text={last.current} />
      </p>
      <span class="tw-chips">
        {model.trouble !== "" && <span class="tw-notice" data-testid="trouble">{model.trouble}</span>}
        {asked !== "loading" && "error" in asked && model.trouble === "" && (
          <>
            <span class="tw-bad">{asked.error}</span>
            <button type="button" class="tw-chip" onClick={() => model.retry()}>
              try again
            </button>
          </>
        )}
        {model.notice.value !== "" && <span class="tw-notice" data-testid="notice"><Said text={model.notice.value} /></span>}
        {nodes.map((node) => (
          <button key={node.id} type="button" class="tw-chip tw-chip-node" onClick={() => model.openNode(node.id, false)}>
            node {node.name}
          </button>
        ))}
        {guards[0] && (
          <button type="button" class="tw-chip tw-chip-guard" onClick={() => model.openGuard(guards[0]?.id ?? 0)}>
            {guards.length === 1 ? "guard" : `${guards.length} guards`}
          </button>
        )}
        {breaks.length > 0 && (
          <button type="button" class="tw-chip tw-chip-break" onClick={() => model.openBreak(null)}>
            graph break
          </button>
        )}
      </span>
    </div>
  );
}

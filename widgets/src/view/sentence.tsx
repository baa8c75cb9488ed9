// The sentence of a step, with links to the nodes, guards and breaks it added.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { INSTR } from "../schema";
import type { Model } from "../model";
import { measured } from "./measure";
import { cellName, codeLabel, place, Said } from "./parts";

/** `Line 37 of train_step`, or `Cell In[4], line 2`, which a sentence is about; the bytecode's bar shows the instruction. */
function subject(model: Model, step: number): string {
  const code = model.index.codeAt(step);
  const line = model.index.lineAt(step);
  if (cellName(model.meta.codes[code.resumes ?? code.id]) !== null) return place(model, code.id, line);
  const label = codeLabel(model, code.id);
  return line === null ? label : `Line ${line} of ${label}`;
}

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
  const text = useRef<HTMLParagraphElement>(null);
  const [cut, setCut] = useState(false);
  const whole = model.whole.value;
  useLayoutEffect(() => {
    if (whole) return;
    measured(() => {
      const element = text.current;
      const beyond = element !== null && element.scrollHeight > element.clientHeight + 2;
      return () => setCut(beyond);
    });
  }, [last.current, whole]);
  const instr = model.meta.steps > 0 ? index.instrAt(step) : null;
  const name = instr ? `${instr[INSTR.opname]} ${instr[INSTR.arg]}`.trim() : "";
  const named = name !== "" && last.current.startsWith(`${name} `);
  const attempt = model.meta.steps > 0 ? index.attemptAt(step) : null;
  return (
    <div class={whole ? "tw-sentence tw-whole" : "tw-sentence"}>
      <p ref={text} data-testid="sentence" role="status" aria-live="polite" aria-busy={loading} title={handlers.length > 0 ? `handled by ${handlers.join(", ")}` : undefined}>
        {named && <span class="tw-said-line" data-op={name} title={name}>{subject(model, step)}</span>}
        <Said text={named ? last.current.slice(name.length) : last.current} />
      </p>
      {(cut || whole) && (
        <button type="button" class="tw-link tw-more-said" data-testid="whole-sentence" aria-expanded={whole} onClick={() => { model.whole.value = !whole; }}>
          {whole ? "less" : "more"}
        </button>
      )}
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
        {attempt?.outcome === "restarted" && attempt.last_step !== step && (
          <button type="button" class="tw-chip tw-chip-restart" data-testid="given-up" data-step={attempt.last_step} title={`${attempt.message} Click to go to where it is given up`} onClick={() => model.go(attempt.last_step)}>
            given up at step {attempt.last_step}
          </button>
        )}
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

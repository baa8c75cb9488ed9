import { useMemo, useState } from "preact/hooks";
import { colourLines } from "../../logic/colour";
import type { Model } from "../../model";
import { BytecodeRows } from "../source";
import { Empty, Rows, Said, wholeLabel } from "../parts";

export function GeneratedPane({ model }: { model: Model }) {
  const { meta, index } = model;
  const here = meta.steps > 0 ? meta.compilations[index.attemptAt(model.paneAt.value).compilation] : meta.compilations.at(-1);
  const [picked, pick] = useState<{ id: number; from: number } | null>(null);
  const id = picked && picked.from === here?.id ? picked.id : (model.generated.value ?? here?.generated ?? null);
  const generated = id === null ? undefined : meta.generated[id];
  const lines = useMemo(() => (generated ? colourLines(generated.listing.replace(/\n$/, "")) : []), [generated]);
  if (!generated)
    return <Empty>No code was generated for this frame: it runs as plain Python.</Empty>;
  const original = meta.codes[generated.original];
  const code = meta.codes[generated.code];
  const resumes = generated.resumes.map((resume) => ({
    resume,
    made: meta.generated.find((other) => other.original === resume),
  }));
  return (
    <div class="tw-generated" data-testid="generated">
      <div class="tw-pane-head">
        <label>
          code{" "}
          <select class="tw-input" value={generated.id} onChange={(event) => pick({ id: Number(event.currentTarget.value), from: here?.id ?? -1 })} aria-label="Which generated code">
            {meta.generated.map((other) => (
              <option key={other.id} value={other.id}>
                {wholeLabel(model, other.original)}, version {meta.compilations[other.compilation]?.version ?? "?"}
              </option>
            ))}
          </select>
        </label>
        {resumes.length > 0 && (
          <span>
            goes on in{" "}
            {resumes.map(({ resume, made }) => (
              <span key={resume}>
                {made ? (
                  <button type="button" class="tw-link" onClick={() => pick({ id: made.id, from: here?.id ?? -1 })}><Said text={meta.codes[resume]?.name ?? ""} /></button>
                ) : (
                  <span><Said text={meta.codes[resume]?.name ?? ""} /></span>
                )}{" "}
              </span>
            ))}
          </span>
        )}
      </div>
      <div class="tw-columns">
        <div class="tw-column">
          <h4>As Python</h4>
          <Rows
            items={lines}
            row={19}
            current={null}
            label="Listing"
            class="tw-source"
            render={(pieces, i) => (
              <div key={i} class="tw-line">
                <code>{pieces.map((piece, k) => <span key={k} class={`tw-as-${piece.colour}`}>{piece.text}</span>)}</code>
              </div>
            )}
          />
        </div>
        <div class="tw-column">
          <h4>New bytecode</h4>
          {code ? <BytecodeRows code={code} current={null} /> : <Empty>Not recorded.</Empty>}
        </div>
        <div class="tw-column">
          <h4>Original bytecode</h4>
          {original ? <BytecodeRows code={original} current={null} /> : <Empty>Not recorded.</Empty>}
        </div>
      </div>
    </div>
  );
}

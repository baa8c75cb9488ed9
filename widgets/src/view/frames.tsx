// The whole call stack at the step: the calls that led to this trace, and below them the frames that it inlined.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { run } from "../commands";
import { foldLibraries, stackAt, type StackLine } from "../logic/stack";
import type { Model } from "../model";
import { measured } from "./measure";
import { codeLabel, Empty, place, shortPlace, wholeLabel } from "./parts";

export function Frames({ model }: { model: Model }) {
  const viewed = model.viewed.value;
  const step = model.position.value;
  const stack = useMemo(() => (model.meta.steps > 0 ? stackAt(model.index, step) : []), [model, step]);
  const box = useRef<HTMLDivElement>(null);
  // Only this list scrolls, not the page around it.
  useLayoutEffect(() => {
    measured(() => {
      const list = box.current;
      const current = list?.querySelector<HTMLElement>('[aria-current="true"]');
      if (!list || !current) return undefined;
      const top = current.offsetTop - list.offsetTop;
      const to = Math.min(top, Math.max(list.scrollTop, top + current.offsetHeight - list.clientHeight));
      return to === list.scrollTop ? undefined : () => (list.scrollTop = to);
    });
  }, [viewed?.frame.id]);
  if (stack.length === 0) return <Empty>No function was traced.</Empty>;
  const attempt = model.index.attemptAt(step);
  const compilation = model.meta.compilations[attempt.compilation];
  // Where no frame is the user's own, there is nothing to fold the others for.
  const rows = model.mine.value && stack.some((line) => model.index.isMine(line.code)) ? foldLibraries(model.index, stack) : stack;
  return (
    <div class="tw-frames" ref={box} data-testid="frames" role="group" aria-label="Call stack, outermost first" tabIndex={0}>
      {compilation && (
        <div class="tw-frames-head" title={attempt.message}>
          version {compilation.version} of {wholeLabel(model, compilation.code)}
        </div>
      )}
      {rows.map((row, i) =>
        Array.isArray(row) ? <Library key={`library ${i}`} model={model} lines={row} /> : <FrameRow key={row.frame ? row.frame.id : `caller ${i}`} model={model} row={row} current={row.frame !== null && row.frame.id === viewed?.frame.id} />,
      )}
    </div>
  );
}

/** Library frames in one row. */
function Library({ model, lines }: { model: Model; lines: StackLine[] }) {
  const names = lines.map((line) => codeLabel(model, line.code)).join(", ");
  return (
    <button type="button" class="tw-frame tw-frame-library" data-testid="library-frames" title={`${names}. Click to show library frames`} onClick={() => run(model, "mine")}>
      {lines.length === 1 ? "1 library frame" : `${lines.length} library frames`}
    </button>
  );
}

function FrameRow({ model, row, current }: { model: Model; row: StackLine; current: boolean }) {
  const { frame, step } = row;
  const label = codeLabel(model, row.code);
  const at = place(model, row.code, row.line);
  const title = frame
    ? `${label} at ${at}. Click to see this function's source and values at the call`
    : `${label} at ${at}, which called this function and was traced on its own.${step === null ? "" : ` Click to go to step ${step}`}`;
  return (
    <button
      type="button"
      class={`tw-frame${current ? " tw-current" : ""}${frame ? "" : " tw-frame-caller"}`}
      aria-current={current ? "true" : undefined}
      disabled={!frame && step === null}
      data-step={frame ? undefined : (step ?? undefined)}
      title={title}
      onClick={() => {
        if (frame) model.frame.value = frame.id;
        else if (step !== null) model.go(step);
      }}
    >
      <span class={frame ? "tw-frame-name" : "tw-caller-name"}>{label}</span>{" "}
      <span class="tw-frame-place">{shortPlace(at)}</span>
    </button>
  );
}

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Model } from "../model";
import { codeLabel, Empty, place } from "./parts";

export function Frames({ model }: { model: Model }) {
  const chain = model.chain.value;
  const viewed = model.viewed.value;
  const box = useRef<HTMLDivElement>(null);
  // Only this list scrolls, not the page around it.
  useLayoutEffect(() => {
    const list = box.current;
    const current = list?.querySelector<HTMLElement>('[aria-current="true"]');
    if (!list || !current) return;
    const top = current.offsetTop - list.offsetTop;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + current.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + current.offsetHeight - list.clientHeight;
  }, [viewed?.frame.id]);
  if (chain.length === 0) return <Empty>No function was traced.</Empty>;
  const attempt = model.index.attemptAt(model.position.value);
  const compilation = model.meta.compilations[attempt.compilation];
  return (
    <div class="tw-frames" ref={box} data-testid="frames" role="group" aria-label="Call chain, outermost first" tabIndex={0}>
      {compilation && (
        <div class="tw-frames-head" title={attempt.message}>
          version {compilation.version} of {codeLabel(model, compilation.code)}
        </div>
      )}
      {chain.map(({ frame, line }, depth) => (
        <button
          key={frame.id}
          type="button"
          class={viewed?.frame.id === frame.id ? "tw-frame tw-current" : "tw-frame"}
          aria-current={viewed?.frame.id === frame.id ? "true" : undefined}
          style={{ paddingLeft: `${8 + Math.min(depth, 20) * 5}px` }}
          title={`${codeLabel(model, frame.code)} at ${place(model, frame.code, line)}. Click to see this function's source and values at the call`}
          onClick={() => {
            model.frame.value = frame.id;
          }}
        >
          <span class="tw-frame-name">{codeLabel(model, frame.code)}</span>
          {line !== null && <span class="tw-dim">:{line}</span>}
        </button>
      ))}
    </div>
  );
}

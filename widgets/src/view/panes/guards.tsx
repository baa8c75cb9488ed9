import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ALL, failedGuards, type Filter, type Guard, guardTree, listed, outcomes, treeRows } from "../../logic/guards";
import type { Model } from "../../model";
import { Blocks } from "../blocks";
import { Empty, lineText, memo, place, Said, StepLink, wholeLabel } from "../parts";

/** The attempt whose guards matter at the position: the last of the compilation, unless failed ones are shown. */
function attemptHere(model: Model): number {
  return model.meta.steps > 0 ? model.index.attemptAt(model.paneAt.value).id : (model.meta.attempts.at(-1)?.id ?? -1);
}

export function GuardsPane({ model }: { model: Model }) {
  const { meta } = model;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const wanted = model.guard.value === null ? undefined : meta.guards[model.guard.value];
  const attempt = wanted?.attempt ?? attemptHere(model);
  const guards = useMemo(() => meta.guards.filter((guard) => guard.attempt === attempt), [meta, attempt]);
  const [filter, setFilter] = useState<Filter>(ALL);
  const failed = useMemo(() => failedGuards(meta), [meta]);
  const counted = (one: Filter): number => guards.filter((guard) => listed(guard, one, (code) => model.index.isMine(code), failed)).length;
  const counts = useMemo(() => ({ mine: counted({ ...ALL, mine: true }), failed: counted({ ...ALL, failed: true }) }), [guards, failed]);
  const picked = pickedSource(model);
  const kept = useMemo(
    () => guards.filter((guard) => guard.id === wanted?.id || listed(guard, filter, (code) => model.index.isMine(code), failed)),
    [guards, filter, failed, wanted],
  );
  const tree = useMemo(() => guardTree(kept), [kept]);
  const rows = useMemo(() => treeRows(tree, closed), [tree, closed]);
  const here = attempt === attemptHere(model);
  // Of another version's guards, which a link may show, none comes later than the position.
  const step = here ? model.paneAt.value : Number.POSITIVE_INFINITY;
  const compilation = meta.compilations[meta.attempts[attempt]?.compilation ?? -1];
  const symbols = meta.symbols.filter((symbol) => symbol.attempt === attempt);
  if (guards.length === 0 && symbols.length === 0) return <Empty>This attempt needed no guard: the traced code depends on nothing that can change.</Empty>;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Guards">
      <p class="tw-pane-head">
        The guards that must hold to reuse {compilation ? `version ${compilation.version} of ${wholeLabel(model, compilation.code)}` : "this version"}:{" "}
        {here ? `${guards.filter((guard) => guard.step === null || guard.step <= step).length} of ${guards.length} guards at this step.` : `${guards.length} guards. The step shown is in another version.`}
      </p>
      <div class="tw-filters" role="group" aria-label="Guards that are listed">
        <Toggle name="mine" label="asked for by my code" count={counts.mine} on={filter.mine} onChange={(mine) => setFilter({ ...filter, mine })} />
        <Toggle name="failed" label="failed" count={counts.failed} on={filter.failed} onChange={(on) => setFilter({ ...filter, failed: on })} />
        {(picked || filter.source !== null) && (
          <Toggle
            name="value"
            label={<>on <span class="tw-code"><Said text={guards.find((guard) => guard.source === filter.source)?.names.at(-1) ?? picked?.label ?? ""} /></span></>}
            count={counted({ ...ALL, source: filter.source ?? picked?.source ?? null })}
            on={filter.source !== null}
            onChange={(on) => setFilter({ ...filter, source: on ? (picked?.source ?? null) : null })}
          />
        )}
        {kept.length < guards.length && <span class="tw-dim" data-testid="guards-listed">{kept.length} of {guards.length} listed</span>}
      </div>
      {symbols.length > 0 && (
        <p class="tw-symbols" data-testid="symbols">
          Symbols:{" "}
          {symbols.map((symbol) => (
            <span key={symbol.name} class="tw-symbol">
              <b class="tw-code">{symbol.name}</b> <span class="tw-code">= {symbol.hint}</span> here, from <span class="tw-code"><Said text={symbol.meaning} /></span>{" "}
              <StepLink model={model} step={symbol.step} />
            </span>
          ))}
        </p>
      )}
      <div role="tree" aria-label="Guards by source">
        <Blocks items={rows} row={21} wanted={wanted && rows.findIndex((row) => "guard" in row && row.guard === wanted)} render={(row) =>
          "branch" in row ? (
            <button
              key={`b${row.branch.source}`}
              type="button"
              class="tw-branch"
              role="treeitem"
              aria-expanded={!closed.has(row.branch.source)}
              aria-level={row.depth + 1}
              title={row.branch.source}
              style={{ paddingLeft: `${8 + row.depth * 16}px` }}
              onClick={() => {
                const next = new Set(closed);
                if (!next.delete(row.branch.source)) next.add(row.branch.source);
                setClosed(next);
              }}
            >
              <span class="tw-caret">{closed.has(row.branch.source) ? "▸" : "▾"}</span>{" "}
              <span class="tw-code"><Said text={row.branch.label} /></span>
            </button>
          ) : (
            <GuardRow key={`g${row.guard.id}`} model={model} guard={row.guard} depth={row.depth} later={row.guard.step !== null && row.guard.step > step && !failed.has(row.guard.id)} here={row.guard.step === step} wanted={row.guard.id === wanted?.id} />
          )}
        />
      </div>
    </div>
  );
}

interface ToggleProps {
  name: string;
  label: ComponentChildren;
  count: number;
  on: boolean;
  onChange: (on: boolean) => void;
}

function Toggle({ name, label, count, on, onChange }: ToggleProps) {
  return (
    <label class="tw-check">
      <input type="checkbox" data-testid={`guards-${name}`} checked={on} onChange={(event) => onChange(event.currentTarget.checked)} /> {label} <span class="tw-dim">{count}</span>
    </label>
  );
}

/** The source of the value that was picked, if it has one. */
function pickedSource(model: Model): { label: string; source: string } | null {
  const picked = model.stopping.picked.value;
  const asked = picked && model.snapshot(picked.tracker, model.paneAt.value);
  if (!asked || asked === "loading" || "error" in asked) return null;
  const { source } = asked.value;
  return source ? { label: picked.label, source } : null;
}

interface GuardRowProps {
  model: Model;
  guard: Guard;
  depth: number;
  /** It is installed after the step shown. */
  later: boolean;
  /** It is installed by the step shown. */
  here: boolean;
  wanted: boolean;
}

const GuardRow = memo(function GuardRow({ model, guard, depth, later, here, wanted }: GuardRowProps) {
  const box = useRef<HTMLDivElement>(null);
  const checked = useMemo(() => outcomes(model.meta, guard), [model, guard]);
  const failed = checked.filter((outcome) => !outcome.held);
  const held = checked.length - failed.length;
  useEffect(() => {
    if (wanted) box.current?.scrollIntoView({ block: "nearest" });
  }, [wanted]);
  return (
    <div
      ref={box}
      class={`tw-guard${later ? " tw-later" : ""}${wanted ? " tw-picked" : here ? " tw-current" : ""}`}
      role="treeitem"
      aria-level={depth + 1}
      data-testid="guard"
      style={{ paddingLeft: `${22 + depth * 16}px` }}
    >
      <span class="tw-guard-text"><Said text={guard.text} /></span>
      <span class="tw-guard-kind">{guard.kind}</span>
      <span class="tw-guard-where">
        <StepLink model={model} step={guard.step} /> <span class="tw-dim" title={lineText(model, guard.code, guard.line)}>{place(model, guard.code, guard.line)}</span>
        {guard.library && (
          <span class="tw-dim" title={lineText(model, guard.library.code, guard.library.line)}> → {place(model, guard.library.code, guard.library.line)}</span>
        )}
      </span>
      <span class="tw-guard-checks">
        {held > 0 && <span class="tw-good">held {held}×</span>}
        {failed.map((outcome) => (
          <span key={outcome.call} class="tw-bad tw-block">failed at call {model.meta.calls[outcome.call]?.number ?? outcome.call}, because {outcome.seen}</span>
        ))}
      </span>
    </div>
  );
});

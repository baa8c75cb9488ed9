import { type Call, type Cell, type Check, callTables } from "../../logic/calls";
import { useMemo } from "preact/hooks";
import type { Model } from "../../model";
import type { FailedGuard } from "../../schema";
import { Empty, place, Said, StepLink, Where, wholeLabel } from "../parts";

const ORDINALS = ["first", "second", "third"];
const ordinal = (n: number): string => ORDINALS[n - 1] ?? `at position ${n}`;

/** `several`: more than one version was tried at this call. */
function Outcome({ model, cell, several }: { model: Model; cell: Cell; several: boolean }) {
  if (cell.what === "compiled") return <span class="tw-new">compiled</span>;
  if (cell.what === "later") return <span class="tw-dim" title="This version was compiled at a later call.">–</span>;
  if (cell.what === "untried") return <span class="tw-dim" title="Versions are tried in turn, the most recently used one first, until the guards of one hold.">not tried</span>;
  const order = several && <span class="tw-dim tw-order">tried {ordinal(cell.order)}</span>;
  if (cell.what === "reused") return <><span class="tw-good">reused</span>{order}</>;
  return (
    <span class="tw-failed">
      {failuresOf(cell.check).map((failed, i) => (
        <Failed key={i} model={model} failed={failed} />
      ))}
      {order}
    </span>
  );
}

type Shown = Pick<FailedGuard, "guard" | "text" | "seen" | "place" | "library">;

/** All guards that failed; the first alone in recordings without the rest. */
function failuresOf(check: Check): Shown[] {
  return check.failures.length > 0 ? check.failures : [{ ...check, guard: check.failed }];
}

function Failed({ model, failed }: { model: Model; failed: Shown }) {
  const text = <span class="tw-code"><Said text={failed.text} /></span>;
  const { guard } = failed;
  return (
    <span class="tw-failure">
      <span class="tw-expected">expected: {guard === null ? text : <button type="button" class="tw-link" onClick={() => model.openGuard(guard)}><Said text={failed.text} /></button>}</span>
      <span class="tw-seen">but <span class="tw-code">{failed.seen}</span></span>
      {failed.place && (
        <span class="tw-dim tw-block">
          guard installed at <Where model={model} at={{ ...failed.place, library: failed.library }} />
        </span>
      )}
    </span>
  );
}

/** The first step of the version that `call` compiled. */
function start(model: Model, call: Call): number | null {
  const compilation = call.compilation === null ? undefined : model.meta.compilations[call.compilation];
  const attempt = model.meta.attempts[compilation?.attempts.at(-1) ?? -1];
  return attempt && attempt.last_step >= attempt.first_step ? attempt.first_step : null;
}

/** Scroll the marked call into sight. */
const inSight = (row: HTMLElement | null): void => row?.scrollIntoView({ block: "nearest" });

export function CallsPane({ model }: { model: Model }) {
  const tables = useMemo(() => callTables(model.meta), [model]);
  if (tables.length === 0) return <Empty>No call of a traced function was recorded.</Empty>;
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Calls">
      {tables.map((table) => (
        <table key={table.code} class="tw-table" data-testid="calls">
          <caption>
            {wholeLabel(model, table.code)} <span class="tw-dim">{place(model, table.code, model.meta.codes[table.code]?.first_line ?? null)}</span>
          </caption>
          <thead>
            <tr>
              <th scope="col">call</th>
              {table.versions.map((version) => (
                <th key={version} scope="col">
                  version {version}
                  <Symbols model={model} code={table.code} version={version} />
                </th>
              ))}
              <th scope="col">outcome</th>
            </tr>
          </thead>
          <tbody>
            {table.rows.map(({ call, cells }) => {
              const first = start(model, call);
              return (
                <tr key={call.id} class={call.id === model.call.value ? "tw-current" : undefined} ref={call.id === model.call.value ? inSight : null} data-call={call.id}>
                  <th scope="row">{call.number}</th>
                  {cells.map((cell, i) => (
                    <td key={i} data-what={cell.what}><Outcome model={model} cell={cell} several={call.checks.length > 1} /></td>
                  ))}
                  <td>
                    {call.outcome}{call.outcome === "compiled" || call.outcome === "reused" ? ` version ${call.version}` : ""} {first !== null && <StepLink model={model} step={first} />}
                    {call.message !== "" && <div class="tw-dim">{call.message}</div>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      ))}
    </div>
  );
}

/** The sources that a version keeps symbolic. */
function Symbols({ model, code, version }: { model: Model; code: number; version: number }) {
  const compilation = model.meta.compilations.find((candidate) => candidate.code === code && candidate.version === version);
  const last = compilation?.attempts.at(-1);
  const symbols = model.meta.symbols.filter((symbol) => symbol.attempt === last);
  if (symbols.length === 0) return null;
  return <div class="tw-dim tw-plainweight">any <Said text={symbols.map((symbol) => symbol.meaning).join(", ")} /></div>;
}

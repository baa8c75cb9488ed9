// The engine beside the installed torch.compile: both repeat the recorded calls, and a table says where they part.
import type { Model } from "../../model";
import type { BesideTorch, TorchFigure, TorchRow } from "../../schema";
import { duration, Said, StepLink } from "../parts";
import { NeedsKernel } from "./coming";

const TITLES: Record<string, string> = { results: "Results", breaks: "Graph breaks, by line", graphs: "Graphs, by function", compilations: "Compilations, by function" };

export function BesidePane({ model }: { model: Model }) {
  const { beside } = model;
  const so = beside.so.value;
  const state = beside.state.value;
  return (
    <section class="tw-scroll tw-beside" tabIndex={0} role="group" aria-label="Beside torch.compile">
      {so === null && (
        <p class="tw-pane-head">
          The recorded calls are run again on copies of their inputs, through the engine and through the installed torch.compile, and results are compared with plain
          Python. Your source and your objects stay as they are; the caches of torch.compile are emptied.
        </p>
      )}
      {beside.isRunning ? (
        <p class="tw-pane-head" data-testid="beside-progress">
          <progress aria-label="Calls repeated" max={so?.total || 1} value={so?.total ? so.done : undefined} />{" "}
          <span>{state === "stopping" ? "Stopping after this…" : `Running ${so?.next ?? "the calls again"}…`}</span>{" "}
          <button type="button" class="tw-button" data-testid="stop-beside" disabled={state === "stopping"} onClick={() => beside.stop()}>
            Stop
          </button>
        </p>
      ) : (
        beside.isPossible && (
          <button type="button" class="tw-button" data-testid="run-beside" onClick={() => void beside.run()}>
            {so === null ? "Compare with torch.compile" : "Compare again"}
          </button>
        )
      )}
      {!beside.isPossible && <p><NeedsKernel what="compares the engine with torch.compile" /></p>}
      <div role="status">
        {typeof state === "object" && <p class="tw-notice">{state.error}</p>}
        {so !== null && !beside.isRunning && so.next !== null && <p class="tw-notice">Stopped.</p>}
        {so !== null && <Found model={model} found={so.found} />}
      </div>
    </section>
  );
}

function Found({ model, found }: { model: Model; found: BesideTorch }) {
  return (
    <div class="tw-beside-found">
      {found.headline !== "" && <p class="tw-headline" data-testid="beside-headline"><Said text={found.headline} /></p>}
      {found.figures.length > 0 && <Figures figures={found.figures} version={found.version} />}
      {Object.entries(TITLES).map(([kind, title]) => {
        const rows = found.rows.filter((row) => row.kind === kind);
        return rows.length > 0 && <Part key={kind} model={model} title={title} rows={rows} />;
      })}
      {found.notes.map((note) => <p key={note} class="tw-notice" data-testid="beside-note">{note}</p>)}
    </div>
  );
}

function Figures({ figures, version }: { figures: readonly TorchFigure[]; version: string }) {
  return (
    <table class="tw-table tw-compare-figures tw-beside-figures">
      <thead>
        <tr><th scope="col" aria-label="number" /><th scope="col">engine</th><th scope="col">torch.compile {version}</th></tr>
      </thead>
      <tbody>
        {figures.map((figure) => {
          const time = figure.name === "seconds";
          const text = (value: number): string => (time ? duration(value) : String(value));
          return (
            <tr key={figure.name} class={figure.engine !== figure.torch && !time ? "tw-compare-differs" : undefined} data-testid="beside-figure" data-name={figure.name}>
              <th scope="row">{time ? "time of the calls, with compiling" : figure.name}</th>
              <td class="tw-right">{text(figure.engine)}</td>
              <td class="tw-right">{text(figure.torch)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Part({ model, title, rows }: { model: Model; title: string; rows: readonly TorchRow[] }) {
  const told = rows.some((row) => !row.same && (row.engine !== "" || row.torch !== ""));
  return (
    <section aria-label={title}>
      <table class="tw-table tw-beside-rows">
        <caption>{title}</caption>
        {told && (
          <thead>
            <tr><th scope="col" aria-label="where they part" /><th scope="col">engine</th><th scope="col">torch.compile</th></tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} data-testid="beside-row" data-same={row.same} class={row.same ? "tw-beside-same" : undefined}>
              <td colSpan={told && row.same ? 3 : 1}>
                {row.place !== "" && <><Place model={model} row={row} />: </>}
                <Said text={row.text} />
                {row.source !== "" && !row.same && <code class="tw-block">{row.source}</code>}
              </td>
              {told && !row.same && <td><Said text={row.engine} /></td>}
              {told && !row.same && <td><Said text={row.torch} /></td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Place({ model, row }: { model: Model; row: TorchRow }) {
  if (row.step === null) return <span class="tw-code">{row.place}</span>;
  return <StepLink model={model} step={row.step}><span class="tw-code">{row.place}</span></StepLink>;
}

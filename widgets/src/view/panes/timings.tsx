import type { Model } from "../../model";
import { Empty, wholeLabel } from "../parts";

export function secondsText(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 0.001) return `${(seconds * 1000).toFixed(1)} ms`;
  return `${(seconds * 1e6).toFixed(0)} µs`;
}

export function TimingsPane({ model }: { model: Model }) {
  const { timings, compilations } = model.meta;
  if (timings.length === 0 && compilations.length === 0) return <Empty>No times were recorded.</Empty>;
  const rows = [
    ...timings.map((stage) => ({ name: stage.name, seconds: stage.seconds })),
    ...compilations.map((compilation) => ({
      name: `${wholeLabel(model, compilation.code)}, version ${compilation.version}${compilation.outcome === "compiled" ? "" : ` (${compilation.outcome})`}`,
      seconds: compilation.seconds,
    })),
  ];
  const longest = Math.max(...rows.map((row) => row.seconds), 1e-9);
  return (
    <div class="tw-scroll" tabIndex={0} role="group" aria-label="Timings">
      <table class="tw-table tw-timings">
        <thead><tr><th scope="col">part of the work</th><th scope="col">time</th><th scope="col"><span class="tw-hidden">share</span></th></tr></thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              <td>{row.name}</td>
              <td class="tw-right">{secondsText(row.seconds)}</td>
              <td class="tw-bar"><span style={{ width: `${(100 * row.seconds) / longest}%` }} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

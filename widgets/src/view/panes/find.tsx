// What holds the searched text, and the conditions to stop at.
import { useMemo } from "preact/hooks";
import { type Found, KINDS, type Kind, marked, type Match, nextMatch } from "../../logic/find";
import type { Model } from "../../model";
import { place, Rows } from "../parts";
import { Stops } from "./coming";

export function FindPane({ model }: { model: Model }) {
  const found = model.results.value;
  return (
    <div class="tw-finding">
      <section class="tw-results-box" aria-label="Found">
        {found === null ? (
          <p class="tw-empty">
            Write into the field of the toolbar (key <kbd>/</kbd>) what to look for: functions, source lines, instructions, nodes, guards and breaks of the whole recording are listed here.
          </p>
        ) : found.matches.length === 0 ? (
          <p class="tw-empty" role="status">Nothing in this recording contains “{model.findText.value.trim()}”.</p>
        ) : (
          <Results model={model} found={found} wanted={model.findText.value.trim()} />
        )}
      </section>
      <section class="tw-stops" aria-label="Where to stop">
        <Stops model={model} />
      </section>
    </div>
  );
}

type Row = { kind: Kind; count: number } | { match: Match };

function Results({ model, found, wanted }: { model: Model; found: Found; wanted: string }) {
  const rows = useMemo(() => {
    const kinds = Object.keys(KINDS) as Kind[];
    return kinds.flatMap((kind): Row[] => {
      const own = found.matches.filter((match) => match.kind === kind);
      return own.length === 0 ? [] : [{ kind, count: own.length }, ...own.map((match): Row => ({ match }))];
    });
  }, [found]);
  const step = model.paneAt.value;
  return (
    <Rows
      items={rows}
      row={21}
      current={null}
      label={`${found.matches.length} found, in groups`}
      testId="results"
      class="tw-results"
      render={(row, i) =>
        "kind" in row ? (
          <h4 key={i} class="tw-results-head">{KINDS[row.kind]} <span class="tw-dim">{row.count}</span></h4>
        ) : (
          <Result key={i} model={model} match={row.match} wanted={wanted} here={row.match.steps.includes(step)} />
        )
      }
    />
  );
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  return <>{marked(text, wanted).map((piece, i) => (i % 2 === 1 ? <mark key={i}>{piece}</mark> : piece))}</>;
}

function Result({ model, match, wanted, here }: { model: Model; match: Match; wanted: string; here: boolean }) {
  const times = match.steps.length;
  const go = (): void => {
    const to = nextMatch(match.steps, model.position.value, "next");
    if (to !== null) model.go(to);
  };
  return (
    <button
      type="button"
      class={`tw-result${here ? " tw-current" : ""}${match.mine ? "" : " tw-result-library"}`}
      data-testid="result"
      data-kind={match.kind}
      data-step={match.steps[0]}
      title={times > 1 ? `${times} times: go to the next one` : `Go to step ${match.steps[0]}`}
      onClick={go}
    >
      <span class="tw-result-text">
        <Marked text={match.text} wanted={wanted} />
        {match.note !== "" && <span class="tw-dim"> · <Marked text={match.note} wanted={wanted} /></span>}
      </span>{" "}
      <span class="tw-dim">{times > 1 && `${times}× `}{place(model, match.code, match.line)}</span>
    </button>
  );
}

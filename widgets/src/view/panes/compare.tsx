// Two recordings compared: what is gone, what is new, and the lines that either ran, side by side, in step.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Compared, Comparing } from "../../comparing";
import { OTHER, type Pair, type Side } from "../../logic/align";
import { upperBound } from "../../logic/trace";
import type { Model } from "../../model";
import type { Change, Figure, Row, Section } from "../../schema";
import { BesidePane } from "./beside";
import { HowToCompare } from "./coming";
import { duration, Empty, Going, lineText, place, Rows, Said } from "../parts";

const ROW = 19;
const TITLES: Record<string, string> = { breaks: "Breaks", graphs: "Graphs", guards: "Guards" };
const SIGNS: Record<Side, string> = { before: "−", after: "+" };

/** Another recording, or torch.compile on the same calls. */
export function ComparePane({ model }: { model: Model }) {
  if (model.compared) model.comparing.value ??= new Comparing(model);
  const comparing = model.comparing.value;
  const [torch, setTorch] = useState(false);
  return (
    <div class="tw-compare-whole">
      {comparing ? (
        <div class="tw-compare-which" role="group" aria-label="Compared with">
          <button type="button" class="tw-button" aria-pressed={!torch} data-testid="with-before" onClick={() => setTorch(false)}>the run before</button>
          <button type="button" class="tw-button" aria-pressed={torch} data-testid="with-torch" onClick={() => setTorch(true)}>torch.compile</button>
        </div>
      ) : (
        <p class="tw-compare-hint"><HowToCompare /></p>
      )}
      {comparing && !torch ? <Recordings model={model} comparing={comparing} /> : <BesidePane model={model} />}
    </div>
  );
}

function Recordings({ model, comparing }: { model: Model; comparing: Comparing }) {
  useEffect(() => {
    if (comparing.asked.peek() !== "stopped") comparing.load();
  }, [comparing]);
  const asked = comparing.asked.value;
  if (asked === null || asked === "loading")
    return (
      <Empty>
        <Going text="Comparing both recordings" so={comparing.so.value} name="stop-comparing" stop={() => comparing.stop()} />
      </Empty>
    );
  if (asked === "stopped")
    return (
      <Empty>
        <span role="status">The comparison was stopped.</span>{" "}
        <button type="button" class="tw-link" data-testid="compare-again" onClick={() => comparing.load()}>compare</button>
      </Empty>
    );
  if ("error" in asked)
    return (
      <Empty>
        <span role="alert">They cannot be compared: {asked.error}</span>{" "}
        <button type="button" class="tw-link" onClick={() => comparing.load()}>try again</button>
      </Empty>
    );
  return (
    <div class="tw-compare">
      <div class="tw-compare-facts" tabIndex={0} role="group" aria-label="Differences">
        <Facts comparing={comparing} compared={asked.value} />
      </div>
      <Lines model={model} comparing={comparing} compared={asked.value} />
    </div>
  );
}

function Facts({ comparing, compared }: { comparing: Comparing; compared: Compared }) {
  const { differences } = compared;
  const [before, after] = differences.parts_at ?? [null, null];
  return (
    <>
      <p class="tw-headline" data-testid="differences">{differences.headline}</p>
      {before !== null && after !== null && (
        <p>
          <button type="button" class="tw-link" data-testid="first-difference" onClick={() => comparing.goBoth(before, after)}>
            Go to the first difference: {at(compared, "before", before)} before, {at(compared, "after", after)} after
          </button>
        </p>
      )}
      <table class="tw-table tw-compare-figures">
        <thead>
          <tr><th scope="col" aria-label="number" /><th scope="col">before</th><th scope="col">after</th></tr>
        </thead>
        <tbody>
          {differences.figures.map((figure) => <Numbers key={figure.name} figure={figure} />)}
        </tbody>
      </table>
      {differences.changes.filter((change) => change.gone.length + change.new.length > 0).map((change) => <Changed key={change.kind} comparing={comparing} change={change} />)}
    </>
  );
}

/** `line 4`, with its file. */
function at({ models }: Compared, side: Side, step: number): string {
  const { index } = models[side];
  return place(models[side], index.codeAt(step).id, index.lineAt(step));
}

function Numbers({ figure }: { figure: Figure }) {
  const time = figure.name === "seconds";
  const text = (value: number): string => (time ? duration(value) : String(value));
  const differs = figure.before !== figure.after;
  return (
    <tr class={differs && !time ? "tw-compare-differs" : undefined} data-testid="figure" data-name={figure.name}>
      <th scope="row">{time ? "time to compile" : figure.name}</th>
      <td class="tw-right">{text(figure.before)}</td>
      <td class="tw-right">{text(figure.after)}</td>
    </tr>
  );
}

function Changed({ comparing, change }: { comparing: Comparing; change: Change }) {
  return (
    <section data-testid={`changed-${change.kind}`} aria-label={TITLES[change.kind]}>
      <h4>{TITLES[change.kind]}</h4>
      <ul class="tw-compare-rows">
        {change.gone.map((section) => <OneSide key={`-${section.title}`} comparing={comparing} section={section} side="before" />)}
        {change.new.map((section) => <OneSide key={`+${section.title}`} comparing={comparing} section={section} side="after" />)}
      </ul>
    </section>
  );
}

const WORDS: Record<Side, string> = { before: "gone", after: "new" };

function OneSide({ comparing, section, side }: { comparing: Comparing; section: Section; side: Side }) {
  return (
    <li class={`tw-compare-${side}`}>
      {section.title !== "" && <span class="tw-code tw-compare-source">{section.title}</span>}
      <ul>
        {section.rows.map((row, i) => (
          <li key={i} data-testid="changed" data-what={WORDS[side]}>
            <span class="tw-compare-sign" aria-hidden="true">{SIGNS[side]}</span>
            <span class="tw-compare-text">
              <span class="tw-compare-word">{WORDS[side]}</span> <Said text={row.text} /> <Place comparing={comparing} row={row} side={side} />
              {(row.source ?? "") !== "" && <code class="tw-block">{row.source}</code>}
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}

/** Where it is, as a link to its step; that of the recording before shows its explorer. */
function Place({ comparing, row, side }: { comparing: Comparing; row: Row; side: Side }) {
  const step = row.step ?? null;
  const text = (row.place ?? "") === "" ? (step === null ? "" : `step ${step}`) : row.place;
  if (step === null) return <span class="tw-dim">{text}</span>;
  return (
    <button
      type="button"
      class="tw-link"
      data-step={step}
      title={`Go to step ${step} ${side === "before" ? "of the recording before" : ""}`}
      onClick={() => {
        if (side === "before") comparing.both.value = true;
        comparing.go(side, step);
      }}
    >
      {text}
    </button>
  );
}

/** The pairs of lines with their numbers; with `mine`, those of the user's own code, if there are any. */
function shownPairs({ alignment, models }: Compared, mine: boolean): { pair: Pair; i: number }[] {
  const all = alignment.pairs.map((pair, i) => ({ pair, i }));
  const own = mine ? all.filter(({ pair: [before, after] }) => (before !== null && models.before.index.mineAt(before)) || (after !== null && models.after.index.mineAt(after))) : [];
  return own.length > 0 ? own : all;
}

/** The lines that either ran, in two columns; the current one of each is marked. */
function Lines({ model, comparing, compared }: { model: Model; comparing: Comparing; compared: Compared }) {
  const { alignment } = compared;
  const side = comparing.sideOf(model);
  const row = alignment.row(side, comparing.at(side));
  const other = alignment.row(OTHER[side], comparing.at(OTHER[side]));
  const mine = model.mine.value;
  const pairs = useMemo(() => shownPairs(compared, mine), [compared, mine]);
  // Where the position is in a library whose lines are hidden, the line that called it.
  const numbers = useMemo(() => pairs.map(({ i }) => i), [pairs]);
  const current = row === null ? null : Math.max(0, upperBound(numbers, row) - 1);
  const alone = alignment.isAlone(side, comparing.at(side));
  return (
    <div class="tw-compare-lines">
      <div class="tw-compare-bar">
        <button type="button" class="tw-button" data-testid="both" aria-pressed={comparing.both.value} onClick={() => { comparing.both.value = !comparing.both.value; }}>
          {comparing.both.value ? "Hide the explorer of the run before" : "Show both explorers"}
        </button>
        <label class="tw-check" title="Where one of the two goes, the other goes to the same line">
          <input type="checkbox" data-testid="linked" checked={comparing.linked.value} onChange={(event) => { comparing.linked.value = event.currentTarget.checked; }} />
          in step
        </label>
        <span class="tw-dim" role="status" data-testid="alone">{alone ? `Only the run ${side} has this line.` : ""}</span>
      </div>
      <div class="tw-compare-heads" aria-hidden="true"><b>before</b><b>after</b></div>
      <Rows
        items={pairs}
        row={ROW}
        current={current}
        label="Lines that ran, before and after"
        testId="compared-lines"
        class="tw-source"
        render={({ pair, i }) => (
          <div key={i} class={`tw-compare-line${i === numbers[current ?? -1] || i === other ? " tw-current" : ""}`} data-testid="compared-line" data-row={i} aria-current={i === numbers[current ?? -1] ? "step" : undefined}>
            {(["before", "after"] as const).map((column) => <OneLine key={column} comparing={comparing} compared={compared} pair={pair} side={column} />)}
          </div>
        )}
      />
    </div>
  );
}

function OneLine({ comparing, compared, pair, side }: { comparing: Comparing; compared: Compared; pair: Pair; side: Side }) {
  const step = pair[side === "before" ? 0 : 1];
  if (step === null) return <span class="tw-compare-none" />;
  const model = compared.models[side];
  const { id } = model.index.codeAt(step);
  const line = model.index.lineAt(step);
  const alone = pair[0] === null || pair[1] === null;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={alone ? `tw-compare-cell tw-compare-${side}` : "tw-compare-cell"}
      data-step={step}
      data-side={side}
      title={`${place(model, id, line)}, step ${step}${alone ? `; only the run ${side} has this line` : ""}`}
      onClick={() => {
        if (pair[0] !== null && pair[1] !== null) comparing.goBoth(pair[0], pair[1]);
        else comparing.go(side, step);
      }}
    >
      <span class="tw-number">{line}</span>
      <code>{lineText(model, id, line)}</code>
    </button>
  );
}

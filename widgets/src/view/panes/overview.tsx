// What happened, ranked by what it cost: the rows that `print(trace)` prints, each a way to its step and its pane.
import { useState } from "preact/hooks";
import type { Model, Tab } from "../../model";
import type { Row, Section } from "../../schema";
import { Said } from "../parts";

const SHOWN = 20;
const PANES: Partial<Record<string, Tab>> = { breaks: "breaks", recompiles: "recompiles", calls: "calls", dispatch: "dispatch", graph: "graph", timings: "timings" };
const PANE_NAMES: Partial<Record<Tab, string>> = { breaks: "Breaks", recompiles: "Recompiles", calls: "Calls", dispatch: "Dispatch", graph: "Graph", timings: "Timings" };
/** Sections about what went wrong: their rows show their notes at once where there are few. */
const SPOKEN = new Set(["advice", "faults", "lost"]);

export function OverviewPane({ model }: { model: Model }) {
  const { headline, sections } = model.meta.overview;
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <div class="tw-scroll tw-overview" tabIndex={0} role="group" aria-label="Overview">
      <p class="tw-headline" data-testid="headline"><Said text={headline} /></p>
      {model.compared && (
        <p>
          <button type="button" class="tw-link" data-testid="before-after" onClick={() => { model.tab.value = "compare"; }}>
            Before/after: compare this run with the one before ›
          </button>
        </p>
      )}
      {sections.map((section) => (
        <Rows key={section.name} model={model} section={section} opened={opened} onOpen={setOpened} />
      ))}
    </div>
  );
}

interface RowsProps {
  model: Model;
  section: Section;
  opened: string | null;
  onOpen(key: string | null): void;
}

function Rows({ model, section, opened, onOpen }: RowsProps) {
  const [all, setAll] = useState(false);
  const rows = all ? section.rows : section.rows.slice(0, SHOWN);
  return (
    <section class="tw-overview-section" data-testid={`overview-${section.name}`} aria-label={section.title}>
      <h4>{section.title} {section.rows.length > 1 && <span class="tw-dim">{section.rows.length}</span>}</h4>
      <ul>
        {rows.map((row, i) => {
          const key = `${section.name} ${i}`;
          const open = opened === key || SPOKEN.has(section.name);
          return <OverviewRow key={key} model={model} row={row} open={open} onToggle={() => onOpen(opened === key ? null : key)} onOpen={() => onOpen(key)} />;
        })}
      </ul>
      {rows.length < section.rows.length && (
        <button type="button" class="tw-link" onClick={() => setAll(true)}>
          show all {section.rows.length}
        </button>
      )}
    </section>
  );
}

interface RowProps {
  model: Model;
  row: Row;
  open: boolean;
  onToggle(): void;
  onOpen(): void;
}

function OverviewRow({ model, row, open, onToggle, onOpen }: RowProps) {
  const pane = PANES[row.pane];
  const step = row.step ?? null;
  const notes = row.notes ?? [];
  const here = step !== null && step === model.paneAt.value;
  const text = (
    <>
      {row.place !== "" && <span class="tw-overview-place">{row.place}</span>}{" "}
      <span><Said text={row.text} /></span>
    </>
  );
  return (
    <li class={here ? "tw-overview-row tw-current" : "tw-overview-row"} data-testid="overview-row">
      <div class="tw-overview-head">
        {notes.length > 0 ? (
          <button type="button" class="tw-fold" aria-expanded={open} aria-label={open ? "Show less" : "Show more"} onClick={onToggle}>
            {open ? "▾" : "▸"}
          </button>
        ) : (
          <span class="tw-fold" />
        )}
        {step === null ? (
          <span class="tw-overview-text">{text}</span>
        ) : (
          <button
            type="button"
            class="tw-overview-text tw-overview-go"
            data-step={step}
            title={`Go to step ${step}`}
            onClick={() => {
              onOpen();
              model.go(step);
            }}
          >
            {text}
          </button>
        )}
        {pane && (
          <button type="button" class="tw-link tw-overview-pane" onClick={() => model.openRow(pane, row.item ?? null, step)}>
            {PANE_NAMES[pane]} ›
          </button>
        )}
      </div>
      {row.source !== "" && <code class="tw-overview-source">{row.source}</code>}
      {open && notes.length > 0 && (
        <ul class="tw-overview-notes">
          {notes.map((note, i) => <li key={i}><Said text={note} /></li>)}
        </ul>
      )}
    </li>
  );
}

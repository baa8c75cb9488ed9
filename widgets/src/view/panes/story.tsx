// One recording told in some ten stations: a sentence each, and beside it the pane with the one thing to look at.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { run } from "../../commands";
import type { Model } from "../../model";
import type { Station } from "../../schema";
import { Empty, Said } from "../parts";
import { BreaksPane } from "./breaks";
import { CallsPane } from "./calls";
import { GeneratedPane } from "./generated";
import { GraphPane } from "./graph";
import { GuardsPane } from "./guards";

/** What is shown beside a station. Source and values are in sight above, so the graph is. */
const LOOKS: Partial<Record<string, (props: { model: Model }) => ComponentChildren>> = {
  breaks: BreaksPane, calls: CallsPane, generated: GeneratedPane, guards: GuardsPane,
};
/** The words for what a station points to. */
const PLACES: Record<string, string> = {
  source: "source", frames: "frames", values: "values", graph: "graph", body: "graph", breaks: "break", calls: "calls", generated: "generated code", guards: "guards",
};
/** What is not in this pane, but above it. */
const ABOVE = new Set(["source", "frames", "values"]);

export function StoryPane({ model }: { model: Model }) {
  const { story } = model.meta;
  const box = useRef<HTMLOListElement>(null);
  const at = model.station.value;
  useEffect(() => {
    const item = box.current?.querySelector<HTMLElement>(".tw-station-told");
    if (box.current && item) box.current.scrollTop = Math.max(0, item.offsetTop - box.current.offsetTop - 30);
  }, [at]);
  if (story.length === 0) return <Empty>There is no story to tell: nothing was traced.</Empty>;
  const Look = (at === null ? undefined : LOOKS[story[at]?.look ?? ""]) ?? GraphPane;
  return (
    <div class="tw-story">
      <div class="tw-story-told">
        <div class="tw-story-bar">
          <button type="button" class="tw-button" data-testid="previous-station" disabled={at === null || at === 0} title="Previous station (T)" onClick={() => run(model, "previousStation")}>
            ‹ Back
          </button>
          <button type="button" class="tw-button" data-testid="next-station" disabled={at === story.length - 1} title="Next station (t)" onClick={() => run(model, "nextStation")}>
            {at === null ? "Begin" : "Next"} ›
          </button>
          <span class="tw-dim" role="status">{at === null ? `${story.length} stations` : `station ${at + 1} of ${story.length}`}</span>
        </div>
        <ol ref={box} tabIndex={0} role="group" aria-label="Stations">
          {story.map((station, i) => <Told key={i} model={model} station={station} number={i} told={i === at} />)}
        </ol>
      </div>
      <div class={at !== null && !ABOVE.has(story[at]?.look ?? "") ? "tw-story-look tw-looked" : "tw-story-look"} data-testid="story-look" data-look={at === null ? "" : story[at]?.look}>
        <Look model={model} />
      </div>
    </div>
  );
}

function Told({ model, station, number, told }: { model: Model; station: Station; number: number; told: boolean }) {
  return (
    <li class={told ? "tw-station tw-station-told" : "tw-station"} data-testid="station" aria-current={told ? "step" : undefined}>
      <button type="button" class="tw-station-title" data-step={station.step ?? undefined} onClick={() => model.tell(number)}>
        {station.title}
      </button>
      {told && (
        <>
          <p class="tw-station-text"><Said text={station.text} /></p>
          <p class="tw-station-hint">
            <b>Look at the {PLACES[station.look] ?? station.look}:</b> <Said text={station.hint} />
          </p>
        </>
      )}
    </li>
  );
}

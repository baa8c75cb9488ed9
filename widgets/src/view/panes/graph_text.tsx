// The graph as text: every line leads to the step that added its node.
import { useMemo } from "preact/hooks";
import { type GraphNode, there } from "../../logic/graph";
import { afterType, lineAsText, type TextLine } from "../../logic/graph_text";
import type { Model } from "../../model";
import { Rows } from "../parts";

export function GraphText({ model, lines, shown }: { model: Model; lines: readonly TextLine[]; shown: GraphNode | null }) {
  const lineOf = useMemo(() => new Map(lines.flatMap((line, i) => (line.kind === "node" && line.node ? [[line.node.id, i]] : []))), [lines]);
  const at = (shown && lineOf.get(shown.id)) ?? -1;
  const step = model.paneAt.value;
  return (
    <Rows
      items={lines}
      row={19}
      current={at < 0 ? null : at}
      label="The graph as text"
      testId="graph-text"
      class="tw-graph-text"
      render={(line, i) => <Line key={i} model={model} line={line} current={i === at} later={line.node !== null && !there(line.node, step)} />}
    />
  );
}

function Line({ model, line, current, later }: { model: Model; line: TextLine; current: boolean; later: boolean }) {
  const { node, kind } = line;
  if (!node) return <div class={`tw-text-line${kind === "comment" ? " tw-comment" : ""}`}>{line.text}</div>;
  const classes = ["tw-text-line", kind === "comment" ? "tw-comment" : "", current ? "tw-current" : "", later ? "tw-later" : "", node.live ? "" : "tw-dead"];
  const at = line.text.indexOf(node.name) + node.name.length;
  return (
    <button
      type="button"
      class={classes.join(" ")}
      data-step={node.step ?? undefined}
      title={node.step === null ? `${node.name}: there before the first step` : `Go to step ${node.step}`}
      aria-label={lineAsText(line).trim()}
      aria-current={current ? "true" : undefined}
      onClick={() => model.openNode(node.id, true)}
    >
      {kind === "comment" || line.type === "" ? line.text : (
        <>{line.text.slice(0, at)}<span class="tw-dim">: {line.type}</span>{afterType(line.text, node)}</>
      )}
    </button>
  );
}

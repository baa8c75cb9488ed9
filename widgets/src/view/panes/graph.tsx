import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { draw } from "../../draw";
import { currentNode, dotText, FOLD_AT, type GraphNode, labels, type Layout, NEIGHBOURS, neighbourhood, runs } from "../../logic/graph";
import type { Model } from "../../model";
import { Empty, Fake, lineText, Rows, StepLink } from "../parts";

/** Whether `node` was there at `step`; one that a call adds after its callee ran is there at the call, and after it. */
const there = (node: GraphNode, step: number): boolean => node.step === step || node.after <= step;

function useLayout(nodes: readonly GraphNode[]): Layout | string | null {
  const [layout, setLayout] = useState<Layout | string | null>(null);
  const text = useMemo(() => dotText(nodes), [nodes]);
  useEffect(() => {
    let wanted = true;
    draw(text).then(
      (done) => wanted && setLayout(done),
      (error: unknown) => wanted && setLayout(`The graph could not be drawn here (${String(error)}). The list beside it is complete.`),
    );
    return () => {
      wanted = false;
    };
  }, [text]);
  return layout;
}

function Drawing({ model, nodes, current }: { model: Model; nodes: readonly GraphNode[]; current: GraphNode | null }) {
  const box = useRef<HTMLDivElement>(null);
  // Several explorers may stand in one document, and some be hidden.
  const arrow = useMemo(() => `tw-arrow-${Math.random().toString(36).slice(2)}`, []);
  const layout = useLayout(nodes);
  const step = model.position.value;
  const known = useMemo(() => new Map(nodes.map((node) => [node.id, node])), [nodes]);
  const drawn = typeof layout === "object" ? layout : null;

  useLayoutEffect(() => {
    const at = drawn?.boxes.find((candidate) => candidate.node === current?.id);
    const element = box.current;
    if (!at || !element) return;
    if (at.y - at.height < element.scrollTop || at.y + at.height > element.scrollTop + element.clientHeight) element.scrollTop = at.y - element.clientHeight / 2;
    if (at.x - at.width / 2 < element.scrollLeft || at.x + at.width / 2 > element.scrollLeft + element.clientWidth)
      element.scrollLeft = at.x - element.clientWidth / 2;
  }, [drawn, current]);

  return (
    <div class="tw-drawing" ref={box} tabIndex={0} role="group" aria-label="Graph">
      {typeof layout === "string" && <Empty>{layout}</Empty>}
      {layout === null && <Empty>Laying out the graph…</Empty>}
      {drawn && (
        <svg width={drawn.width + 16} height={drawn.height + 16} viewBox={`-8 -8 ${drawn.width + 16} ${drawn.height + 16}`}>
          <defs>
            <marker id={arrow} viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 1 7 4 0 7z" class="tw-arrow" />
            </marker>
          </defs>
          {drawn.edges.map((edge) => {
            const to = known.get(edge.to);
            const faded = !to || !there(to, step);
            const near = edge.to === current?.id || edge.from === current?.id;
            return <path key={`${edge.from}-${edge.to}`} d={edge.path} class={`tw-edge${faded ? " tw-later" : ""}${near ? " tw-near" : ""}`} marker-end={`url(#${arrow})`} />;
          })}
          {drawn.boxes.map((at) => {
            const node = known.get(at.node);
            if (!node) return null;
            const [name, what] = labels(node);
            const classes = ["tw-node", `tw-node-${node.op}`, there(node, step) ? "" : "tw-later", node.live ? "" : "tw-dead", node.id === current?.id ? "tw-current" : ""];
            const pick = (): void => model.openNode(node.id, true);
            return (
              <g
                key={node.id}
                class={classes.join(" ")}
                transform={`translate(${at.x - at.width / 2} ${at.y - at.height / 2})`}
                role="button"
                tabIndex={0}
                aria-label={`node ${node.name}`}
                data-testid="node"
                data-node={node.name}
                onClick={pick}
                onKeyDown={(event) => {
                  if (event.key === "Enter" || event.key === " ") pick();
                }}
              >
                <rect width={at.width} height={at.height} rx="4" />
                <text x={at.width / 2} y={what === "" ? 22 : 15} text-anchor="middle">
                  {name}
                </text>
                {what !== "" && (
                  <text x={at.width / 2} y="28" text-anchor="middle" class="tw-what">
                    {what}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}

function Links({ model, ids }: { model: Model; ids: number[] }) {
  if (ids.length === 0) return <span class="tw-dim">none</span>;
  return (
    <>
      {ids.map((id) => (
        <span key={id}><button type="button" class="tw-link" onClick={() => model.openNode(id, false)}>{model.meta.nodes[id]?.name ?? id}</button> </span>
      ))}
    </>
  );
}

function Details({ model, node, nodes }: { model: Model; node: GraphNode; nodes: readonly GraphNode[] }) {
  const { index } = model;
  const code = node.step === null ? null : index.codeAt(node.step).id;
  const line = node.step === null ? null : index.lineAt(node.step);
  const users = nodes.filter((other) => other.inputs.includes(node.id)).map((other) => other.id);
  return (
    <dl class="tw-facts" data-testid="node-facts">
      <dt>node</dt>
      <dd><b class="tw-code">{node.name}</b> <span class="tw-dim">{node.op}{node.live ? "" : ", removed before the graph was handed on"}</span></dd>
      <dt>target</dt>
      <dd class="tw-code">{node.target}</dd>
      {node.args !== "" && <><dt>args</dt><dd class="tw-code">{node.args}</dd></>}
      {node.source && <><dt>from</dt><dd class="tw-code">{node.source}</dd></>}
      <dt>result</dt>
      <dd>{node.fakes.length === 0 ? <span class="tw-dim">not recorded</span> : node.fakes.map((fake, i) => <div key={i}>{fake.type} <Fake fake={fake} /></div>)}</dd>
      <dt>step</dt>
      <dd><StepLink model={model} step={node.step} /> <span class="tw-code tw-dim">{lineText(model, code, line)}</span></dd>
      <dt>uses</dt>
      <dd><Links model={model} ids={node.inputs} /></dd>
      <dt>used by</dt>
      <dd><Links model={model} ids={users} /></dd>
    </dl>
  );
}

export function GraphPane({ model }: { model: Model }) {
  const { meta, index } = model;
  const attempt = meta.steps > 0 ? index.attemptAt(model.position.value).id : -1;
  const graph = meta.graphs.find((candidate) => candidate.attempt === attempt);
  const nodes = useMemo(() => (graph ? graph.nodes.flatMap((id) => meta.nodes[id] ?? []) : []), [graph, meta]);
  const picked = model.node.value === null ? undefined : nodes.find((node) => node.id === model.node.value);
  const current = currentNode(nodes, model.position.value);
  const shown = picked ?? current;
  const folded = nodes.length > FOLD_AT;
  const centre = shown?.id ?? -1;
  const part = useMemo(() => (folded ? neighbourhood(nodes, centre, NEIGHBOURS) : nodes), [folded, nodes, folded ? centre : 0]);
  const groups = useMemo(
    () => (folded ? runs(nodes, (node) => (node.step === null ? "inputs" : `${index.codeAt(node.step).qualname}:${index.lineAt(node.step) ?? "?"}`)) : []),
    [folded, nodes, index],
  );
  if (!graph || nodes.length === 0) return <Empty>Nothing was put in the graph in this attempt.</Empty>;
  return (
    <div class="tw-graph">
      <Drawing model={model} nodes={part} current={shown} />
      <div class="tw-aside">
        <div class="tw-aside-head">
          {graph.name || "graph"}: {nodes.filter((node) => there(node, model.position.value)).length} of {nodes.length} nodes at this step
          {folded && `; ${part.length} drawn around ${shown?.name ?? "the current one"}`}
          {picked && (
            <button type="button" class="tw-link" onClick={() => { model.node.value = null; }}>
              {" "}follow the steps
            </button>
          )}
        </div>
        {shown && <Details model={model} node={shown} nodes={nodes} />}
        {folded && <NodeList model={model} groups={groups} shown={shown} />}
      </div>
    </div>
  );
}

type ListRow = { heading: string; count: number } | { node: GraphNode };

function NodeList({ model, groups, shown }: { model: Model; groups: { key: string; nodes: GraphNode[] }[]; shown: GraphNode | null }) {
  const rows = useMemo(
    () => groups.flatMap((group): ListRow[] => [{ heading: group.key, count: group.nodes.length }, ...group.nodes.map((node): ListRow => ({ node }))]),
    [groups],
  );
  const at = rows.findIndex((row) => "node" in row && row.node.id === shown?.id);
  return (
    <Rows
      items={rows}
      row={19}
      current={at < 0 ? null : at}
      label="All nodes by line"
      testId="node-list"
      class="tw-node-list"
      render={(row) =>
        "heading" in row ? (
          <div key={row.heading} class="tw-node-heading">{row.heading} <span class="tw-dim">{row.count}</span></div>
        ) : (
          <button
            key={row.node.id}
            type="button"
            class={`tw-node-row${row.node.id === shown?.id ? " tw-current" : ""}${there(row.node, model.position.value) ? "" : " tw-later"}`}
            onClick={() => model.openNode(row.node.id, true)}
          >
            {row.node.name} <span class="tw-dim">{labels(row.node)[1]}</span>
          </button>
        )
      }
    />
  );
}

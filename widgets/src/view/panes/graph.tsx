import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { draw } from "../../draw";
import { folded, foldName, folds, type Item, plain } from "../../logic/folds";
import { currentNode, dotText, FOLD_AT, type GraphNode, labels, type Layout, NEIGHBOURS, neighbourhood, runs } from "../../logic/graph";
import type { Model } from "../../model";
import { Empty, Fake, lineText, Rows, StepLink } from "../parts";

/** Whether `node` was there at `step`; one that a call adds after its callee ran is there at the call, and after it. */
const there = (node: GraphNode, step: number): boolean => node.step === step || node.after <= step;

function useLayout(items: readonly Item[]): Layout | string | null {
  const [layout, setLayout] = useState<Layout | string | null>(null);
  const text = useMemo(() => dotText(items), [items]);
  useEffect(() => {
    let wanted = true;
    draw(text).then(
      (done) => wanted && setLayout(done),
      (error: unknown) => wanted && setLayout(`The graph could not be drawn (${String(error)}). The list beside it is complete.`),
    );
    return () => {
      wanted = false;
    };
  }, [text]);
  return layout;
}

/** `onOpen` is told of a folded module that is to be opened. */
function Drawing({ model, items, shown, onOpen }: { model: Model; items: readonly Item[]; shown: GraphNode | null; onOpen: (fold: string) => void }) {
  const box = useRef<HTMLDivElement>(null);
  // Several explorers may stand in one document, and some be hidden.
  const arrow = useMemo(() => `tw-arrow-${Math.random().toString(36).slice(2)}`, []);
  const layout = useLayout(items);
  const step = model.position.value;
  const known = useMemo(() => new Map(items.map((item) => [item.id, item])), [items]);
  const begun = (item: Item | undefined): boolean => item?.nodes.some((node) => there(node, step)) ?? false;
  const current = useMemo(() => items.find((item) => item.nodes.some((node) => node.id === shown?.id)) ?? null, [items, shown]);
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
            const faded = !begun(known.get(edge.to));
            const near = edge.to === current?.id || edge.from === current?.id;
            return <path key={`${edge.from}-${edge.to}`} d={edge.path} class={`tw-edge${faded ? " tw-later" : ""}${near ? " tw-near" : ""}`} marker-end={`url(#${arrow})`} />;
          })}
          {drawn.boxes.map((at) => {
            const item = known.get(at.node);
            const node = item?.nodes[0];
            if (!item || !node) return null;
            const [name, what] = item.lines;
            const { fold } = item;
            const kind = fold === null ? node.op : "module";
            const dead = item.nodes.every((one) => !one.live);
            const classes = ["tw-node", `tw-node-${kind}`, begun(item) ? "" : "tw-later", dead ? "tw-dead" : "", item === current ? "tw-current" : ""];
            const pick = (): void => (fold === null ? model.openNode(node.id, true) : onOpen(fold));
            return (
              <g
                key={item.id}
                class={classes.join(" ")}
                transform={`translate(${at.x - at.width / 2} ${at.y - at.height / 2})`}
                role="button"
                tabIndex={0}
                aria-label={fold === null ? `node ${node.name}` : `module ${foldName(fold)}, ${what}, folded: click to expand`}
                data-testid={fold === null ? "node" : "module"}
                data-node={fold === null ? node.name : foldName(fold)}
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

function Details({ model, node, nodes, modules }: { model: Model; node: GraphNode; nodes: readonly GraphNode[]; modules: ComponentChildren }) {
  const { index } = model;
  const code = node.step === null ? null : index.codeAt(node.step).id;
  const line = node.step === null ? null : index.lineAt(node.step);
  const users = nodes.filter((other) => other.inputs.includes(node.id)).map((other) => other.id);
  return (
    <dl class="tw-facts" data-testid="node-facts">
      <dt>node</dt>
      <dd><b class="tw-code">{node.name}</b> <span class="tw-dim">{node.op}{node.live ? "" : ", removed before the graph was compiled"}</span></dd>
      <dt>target</dt>
      <dd class="tw-code">{node.target}</dd>
      {node.args !== "" && <><dt>args</dt><dd class="tw-code">{node.args}</dd></>}
      {node.source && <><dt>from</dt><dd class="tw-code">{node.source}</dd></>}
      <dt>result</dt>
      <dd>{node.fakes.length === 0 ? <span class="tw-dim">not recorded</span> : node.fakes.map((fake, i) => <div key={i}>{fake.type} <Fake fake={fake} /></div>)}</dd>
      <dt>step</dt>
      <dd><StepLink model={model} step={node.step} /> <span class="tw-code tw-dim">{lineText(model, code, line)}</span></dd>
      {modules}
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
  const large = nodes.length > FOLD_AT;
  const foldable = useMemo(() => nodes.some((node) => node.modules.length > 1), [nodes]);
  const [wish, setWish] = useState<boolean | null>(null);
  const byModule = foldable && (wish ?? large);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const around = shown === null ? "" : (folds(shown).at(-1) ?? "");
  const items = useMemo(() => {
    if (!byModule) return plain(nodes);
    return folded(nodes, new Set([...opened, ...(shown === null ? [] : folds(shown))]));
  }, [byModule, nodes, opened, around]);
  const crowded = items.length > FOLD_AT;
  const centre = crowded ? (items.find((item) => item.nodes.some((node) => node.id === shown?.id))?.id ?? -1) : 0;
  const part = useMemo(() => (crowded ? neighbourhood(items, centre, NEIGHBOURS) : items), [crowded, items, centre]);
  const groups = useMemo(
    () => (large ? runs(nodes, (node) => (node.step === null ? "inputs" : `${index.codeAt(node.step).qualname}:${index.lineAt(node.step) ?? "?"}`)) : []),
    [large, nodes, index],
  );
  if (!graph || nodes.length === 0) return <Empty>This attempt added nothing to the graph.</Empty>;
  const toggle = (fold: string): void => {
    const next = new Set(opened);
    if (!next.delete(fold)) next.add(fold);
    setOpened(next);
  };
  return (
    <div class="tw-graph">
      <Drawing model={model} items={part} shown={shown} onOpen={toggle} />
      <div class="tw-aside">
        <div class="tw-aside-head">
          {graph.name || "graph"}: {nodes.filter((node) => there(node, model.position.value)).length} of {nodes.length} nodes at this step
          {crowded && `; ${part.length} drawn around ${shown?.name ?? "the current one"}`}
          {picked && (
            <button type="button" class="tw-link" onClick={() => { model.node.value = null; }}>
              {" "}follow the steps
            </button>
          )}
        </div>
        {foldable && (
          <div class="tw-folds">
            <label class="tw-check">
              <input type="checkbox" checked={byModule} data-testid="fold-modules" onChange={(event) => setWish(event.currentTarget.checked)} />
              one box for each module
            </label>
            {byModule && [...opened].map((fold) => (
              <button key={fold} type="button" class="tw-chip" title="Fold this module" onClick={() => toggle(fold)}>
                {foldName(fold)} ✕
              </button>
            ))}
          </div>
        )}
        {shown && <Details model={model} node={shown} nodes={nodes} modules={<Modules node={shown} />} />}
        {large && <NodeList model={model} groups={groups} shown={shown} />}
      </div>
    </div>
  );
}

/** The modules that a node is in, from the model inwards. */
function Modules({ node }: { node: GraphNode }) {
  if (node.modules.length === 0) return null;
  return <><dt>module</dt><dd class="tw-code">{folds(node).map(foldName).join(" › ")}</dd></>;
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

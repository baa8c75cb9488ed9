import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Bodies, type Body } from "../../logic/bodies";
import { callNames, folded, foldName, folds, plain } from "../../logic/folds";
import { currentNode, FOLD_AT, type GraphNode, NEIGHBOURS, neighbourhood, neighbours, plainName, there } from "../../logic/graph";
import { textLines, wholeText } from "../../logic/graph_text";
import type { Model } from "../../model";
import { download } from "../download";
import { codeLabel, Empty, Fake, lineText, place, Said, StepLink, wholeLabel } from "../parts";
import { BodyFacts } from "./bodies";
import { Drawing, LoweredGraphs, UnderNode } from "./coming";
import { GraphText } from "./graph_text";

/** So many links to nodes are shown. */
const LINKS = 24;

const nameOf = (model: Model, id: number): string => {
  const node = model.meta.nodes[id];
  return node ? plainName(node) : `${id}`;
};

function Links({ model, ids }: { model: Model; ids: number[] }) {
  if (ids.length === 0) return <span class="tw-dim">none</span>;
  return (
    <>
      {ids.slice(0, LINKS).map((id) => (
        <span key={id}><button type="button" class="tw-link" onClick={() => model.openNode(id, false)}>{nameOf(model, id)}</button> </span>
      ))}
      {ids.length > LINKS && <span class="tw-dim">and {ids.length - LINKS} more</span>}
    </>
  );
}

interface DetailsProps {
  model: Model;
  node: GraphNode;
  nodes: readonly GraphNode[];
  bodies: Bodies;
  modules: ComponentChildren;
}

function Details({ model, node, nodes, bodies, modules }: DetailsProps) {
  const { index } = model;
  const code = node.step === null ? null : index.codeAt(node.step).id;
  const line = node.step === null ? null : index.lineAt(node.step);
  const users = useMemo(
    () => nodes.filter((other) => other.inputs.includes(node.id) || bodies.lift(other.id)?.outer === node.id).map((other) => other.id),
    [nodes, bodies, node],
  );
  const lift = bodies.lift(node.id);
  return (
    <dl class="tw-facts" data-testid="node-facts">
      <dt>node</dt>
      <dd><b class="tw-code">{node.name}</b> <span class="tw-dim">{node.op}{node.live ? "" : ", removed before the graph was compiled"}</span></dd>
      <dt>target</dt>
      <dd class="tw-code">{node.target}</dd>
      {node.args !== "" && <><dt>args</dt><dd class="tw-code">{node.args}</dd></>}
      {lift && <><dt>lifted</dt><dd data-testid="lifted">{lift.text}</dd></>}
      {node.label !== "" && <><dt>from</dt><dd class="tw-code" title={node.source ?? ""}><Said text={node.label} /></dd></>}
      <dt>result</dt>
      <dd>{node.fakes.length === 0 ? <span class="tw-dim">not recorded</span> : node.fakes.map((fake, i) => <div key={i}>{fake.type} <Fake fake={fake} /></div>)}</dd>
      <UnderNode model={model} node={node} />
      <dt>step</dt>
      <dd><StepLink model={model} step={node.step} /> <span class="tw-code tw-dim">{lineText(model, code, line)}</span></dd>
      {modules}
      <dt>uses</dt>
      <dd><Links model={model} ids={lift ? [lift.outer] : node.inputs} /></dd>
      <dt>used by</dt>
      <dd><Links model={model} ids={users} /></dd>
    </dl>
  );
}

/** So many graphs are named where there is none. */
const NAMED_GRAPHS = 12;

/** Here is no graph: the ways to those of the recording. */
function NoGraph({ model }: { model: Model }) {
  const { meta } = model;
  const ways = meta.compilations.flatMap((compilation) => {
    const graph = meta.graphs[compilation.graph ?? -1];
    const attempt = meta.attempts[graph?.attempt ?? -1];
    return graph && attempt && attempt.last_step >= attempt.first_step ? [{ graph, compilation, step: attempt.last_step }] : [];
  });
  return (
    <Empty>
      No operation was added to a graph here{ways.length === 0 ? "; the recording has no graph." : ". The graphs of this recording:"}
      <ul data-testid="other-graphs">
        {ways.slice(0, NAMED_GRAPHS).map(({ graph, step, compilation }) => (
          <li key={graph.id}>
            <StepLink model={model} step={step}>{wholeLabel(model, compilation.code)}, version {compilation.version}</StepLink> ({graph.nodes.length} nodes)
          </li>
        ))}
        {ways.length > NAMED_GRAPHS && <li>and {ways.length - NAMED_GRAPHS} more</li>}
      </ul>
    </Empty>
  );
}

export function GraphPane({ model }: { model: Model }) {
  const { meta, index } = model;
  const attempt = meta.steps > 0 ? index.attemptAt(model.paneAt.value).id : -1;
  const graph = meta.graphs.find((candidate) => candidate.attempt === attempt && candidate.body === null);
  const bodies = useMemo(() => new Bodies(meta, meta.bodies.filter((body) => body.attempt === attempt)), [meta, attempt]);
  const own = useMemo(() => (graph ? graph.nodes.flatMap((id) => meta.nodes[id] ?? []) : []), [graph, meta]);
  const nodes = useMemo(() => [...own, ...bodies.all.flatMap((body) => bodies.nodes(body))], [own, bodies]);
  const inOrder = useMemo(() => (bodies.all.length > 0 ? [...nodes].sort((a, b) => a.id - b.id) : nodes), [nodes, bodies]);
  const picked = model.node.value === null ? undefined : nodes.find((node) => node.id === model.node.value);
  const current = currentNode(inOrder, model.paneAt.value);
  const shown = picked ?? current;
  const large = nodes.length > FOLD_AT;
  const foldable = useMemo(() => own.some((node) => node.modules.length > 1), [own]);
  const [wish, setWish] = useState<boolean | null>(null);
  const byModule = foldable && (wish ?? large);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  // Bodies are open in a small graph, and folded in a large one; these are the other way round.
  const [turned, setTurned] = useState<ReadonlySet<number>>(new Set());
  const names = useMemo(() => callNames(own), [own]);
  const around = shown === null ? "" : (folds(shown).at(-1) ?? "");
  const { items, clusters } = useMemo(() => {
    const boxes = byModule ? folded(own, new Set([...opened, ...(shown === null ? [] : folds(shown))]), names) : plain(own);
    return bodies.nest(boxes, (body) => turned.has(body.id) === large);
  }, [byModule, own, names, bodies, turned, large, opened, around]);
  const crowded = items.length > FOLD_AT;
  const links = useMemo(() => (crowded ? neighbours(items) : undefined), [crowded, items]);
  const boxOf = useMemo(() => new Map(items.flatMap((item) => item.nodes.map((node) => [node.id, item.id]))), [items]);
  const centre = crowded && shown ? (boxOf.get(shown.id) ?? -1) : 0;
  const part = useMemo(() => (crowded ? neighbourhood(items, centre, NEIGHBOURS, links) : items), [crowded, items, centre, links]);
  const lines = useMemo(() => textLines(own, bodies, places(model)), [own, bodies, model]);
  const told = bodiesToTell(model, bodies, shown);
  const name = graph?.name || "graph";
  if (nodes.length === 0) return <NoGraph model={model} />;
  const toggle = (fold: string): void => {
    const next = new Set(opened);
    if (!next.delete(fold)) next.add(fold);
    setOpened(next);
  };
  const turn = (id: number): void => {
    const next = new Set(turned);
    if (!next.delete(id)) next.add(id);
    setTurned(next);
  };
  return (
    <div class="tw-graph">
      <Drawing model={model} name={name} nodes={nodes} bodies={bodies} items={part} clusters={clusters} shown={shown} onOpen={toggle} onBody={turn}>
        <button type="button" class="tw-button" data-testid="download-text" aria-label="Download the graph as text" title="Download the whole graph as text" onClick={() => download(`${name}.txt`, "text/plain", wholeText(lines))}>
          text ↓
        </button>
      </Drawing>
      <GraphText model={model} lines={lines} shown={shown} />
      <div class="tw-aside">
        <div class="tw-aside-head">
          {name}: {nodes.filter((node) => there(node, model.paneAt.value)).length} of {nodes.length} nodes at this step
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
              one box for each call of a module
            </label>
            {byModule && [...opened].map((fold) => (
              <button key={fold} type="button" class="tw-chip" title="Fold this module" onClick={() => toggle(fold)}>
                {names.get(fold) ?? foldName(fold)} ✕
              </button>
            ))}
          </div>
        )}
        {graph && <LoweredGraphs key={graph.id} model={model} graph={graph.id} />}
        {shown && model.body.value === null && <Details model={model} node={shown} nodes={nodes} bodies={bodies} modules={<Modules node={shown} names={names} />} />}
        {told.map((body) => <BodyFacts key={body.id} model={model} body={body} />)}
      </div>
    </div>
  );
}

/** `layers.py:14, in forward: y = x @ w`: the user's line that added a node; a library's where none of theirs runs. */
function places(model: Model): (node: GraphNode) => string | null {
  const { index } = model;
  const said = new Map<string, string>(); // Thousands of nodes may be of a few lines.
  return (node) => {
    if (node.step === null) return null;
    const chain = index.chain(node.step);
    const at = chain.findLast(({ code }) => index.isMine(code.id)) ?? chain.at(-1);
    if (!at) return null;
    const key = `${at.code.id} ${at.line}`;
    const known = said.get(key);
    if (known !== undefined) return known;
    const text = lineText(model, at.code.id, at.line);
    const words = `${place(model, at.code.id, at.line)}, in ${codeLabel(model, at.code.id)}${text === "" ? "" : `: ${text}`}`;
    said.set(key, words);
    return words;
  };
}

/** The bodies to tell of: the picked one; or that of the picked node; or those that the step calls; or the innermost that it is in. */
function bodiesToTell(model: Model, bodies: Bodies, shown: GraphNode | null): Body[] {
  const step = model.paneAt.value;
  const picked = bodies.all.filter((body) => body.id === model.body.value);
  if (picked.length > 0) return picked;
  const around = shown && model.node.value !== null ? bodies.of(shown) : null;
  if (around) return [around];
  const called = bodies.all.filter((body) => body.step === step);
  return called.length > 0 ? called : model.index.bodiesAt(step).slice(-1);
}

/** The modules that a node is in, from the model inwards. */
function Modules({ node, names }: { node: GraphNode; names: ReadonlyMap<string, string> }) {
  if (node.modules.length === 0) return null;
  return <><dt>module</dt><dd class="tw-code">{folds(node).map((fold) => names.get(fold) ?? foldName(fold)).join(" › ")}</dd></>;
}

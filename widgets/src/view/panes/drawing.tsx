// A graph, drawn: boxes for nodes, folded modules and bodies of operators, frames around the bodies that are open.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { draw } from "../../draw";
import type { Cluster } from "../../logic/bodies";
import { foldName, type Item } from "../../logic/folds";
import { type Box, dotText, type GraphNode, type Layout } from "../../logic/graph";
import type { Model } from "../../model";
import { Empty } from "../parts";

/** Whether `node` was there at `step`; one that a call adds after its callee ran is there at the call, and after it. */
export const there = (node: GraphNode, step: number): boolean => node.step === step || node.after <= step;

const REST = 90;

function useLayout(items: readonly Item[], clusters: readonly Cluster[]): Layout | string | null {
  const [layout, setLayout] = useState<Layout | string | null>(null);
  const drawnBefore = useRef(false);
  const text = useMemo(() => dotText(items, clusters), [items, clusters]);
  useEffect(() => {
    let wanted = true;
    // A drag passes over many graphs: each is drawn only when it rests.
    const rest = setTimeout(() => {
      draw(text).then(
        (done) => wanted && setLayout(done),
        (error: unknown) => wanted && setLayout(`The graph could not be drawn (${String(error)}). The list beside it is complete.`),
      );
    }, drawnBefore.current ? REST : 0);
    drawnBefore.current = true;
    return () => {
      wanted = false;
      clearTimeout(rest);
    };
  }, [text]);
  return layout;
}

interface DrawingProps {
  model: Model;
  items: readonly Item[];
  clusters: readonly Cluster[];
  shown: GraphNode | null;
  /** Is told of a folded module that is to be opened. */
  onOpen: (fold: string) => void;
  /** Is told of a body that is to be opened, or folded. */
  onBody: (body: number) => void;
}

export function Drawing({ model, items, clusters, shown, onOpen, onBody }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  // Several explorers may stand in one document, and some be hidden.
  const arrow = useMemo(() => `tw-arrow-${Math.random().toString(36).slice(2)}`, []);
  const layout = useLayout(items, clusters);
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
          {drawn.frames.map((at) => {
            const cluster = clusters.find(({ body }) => body.id === at.node);
            return cluster && <Frame key={at.node} at={at} cluster={cluster} step={step} />;
          })}
          {drawn.edges.map((edge) => {
            const faded = !begun(known.get(edge.to));
            const near = edge.to === current?.id || edge.from === current?.id;
            const between = known.get(edge.from)?.cluster !== known.get(edge.to)?.cluster;
            return <path key={`${edge.from}-${edge.to}`} d={edge.path} class={`tw-edge${faded ? " tw-later" : ""}${near ? " tw-near" : ""}${between ? " tw-lift" : ""}`} marker-end={`url(#${arrow})`} />;
          })}
          {drawn.frames.map((at) => {
            const cluster = clusters.find(({ body }) => body.id === at.node);
            return cluster && <FrameTitle key={at.node} at={at} cluster={cluster} onFold={onBody} />;
          })}
          {drawn.boxes.map((at) => {
            const item = known.get(at.node);
            const node = item?.nodes[0];
            if (!item || !node) return null;
            const [name, what] = item.lines;
            const { fold, body } = item;
            const kind = body !== null ? "body" : fold !== null ? "module" : node.op;
            const label = body !== null ? `body ${name}, ${what}, folded: click to expand` : fold !== null ? `module ${foldName(fold)}, ${what}, folded: click to expand` : `node ${node.name}`;
            const dead = item.nodes.every((one) => !one.live);
            const classes = ["tw-node", `tw-node-${kind}`, begun(item) ? "" : "tw-later", dead ? "tw-dead" : "", item === current ? "tw-current" : ""];
            const pick = (): void => {
              if (body !== null) onBody(body);
              else if (fold !== null) onOpen(fold);
              else model.openNode(node.id, true);
            };
            return (
              <g
                key={item.id}
                class={classes.join(" ")}
                transform={`translate(${at.x - at.width / 2} ${at.y - at.height / 2})`}
                role="button"
                tabindex={0} // (An attribute of SVG, where case counts.)
                aria-label={label}
                data-testid={body !== null ? "body" : fold !== null ? "module" : "node"}
                data-node={body !== null ? name : fold !== null ? foldName(fold) : node.name}
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

const corner = (at: Box): string => `translate(${at.x - at.width / 2} ${at.y - at.height / 2})`;

/** The frame around an open body. */
function Frame({ at, cluster: { body, title }, step }: { at: Box; cluster: Cluster; step: number }) {
  const now = body.first_step <= step && step <= body.last_step;
  const classes = ["tw-body", now ? "tw-current" : "", body.first_step > step ? "tw-later" : "", body.outcome === "kept" ? "" : "tw-dead"];
  return (
    <g class={classes.join(" ")} transform={corner(at)} data-testid="body-frame" data-body={title}>
      <rect width={at.width} height={at.height} rx="6" />
    </g>
  );
}

/** Its title, which folds it. */
function FrameTitle({ at, cluster: { body, title }, onFold }: { at: Box; cluster: Cluster; onFold: (body: number) => void }) {
  const fold = (): void => onFold(body.id);
  return (
    <g
      class={body.outcome === "kept" ? "tw-body-title" : "tw-body-title tw-dead"}
      transform={corner(at)}
      role="button"
      tabindex={0}
      aria-label={`body ${title}, open: click to fold`}
      onClick={fold}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") fold();
      }}
    >
      <title>{body.text}</title>
      <rect width={at.width} height="20" rx="6" />
      <text x="9" y="15">{title}</text>
    </g>
  );
}

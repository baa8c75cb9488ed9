// A graph, drawn: boxes for nodes, folded modules and bodies of operators, frames around the bodies that are open.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { draw } from "../../draw";
import type { Cluster } from "../../logic/bodies";
import type { Item } from "../../logic/folds";
import { type Box, dotText, type Layout, there } from "../../logic/graph";
import { svgText } from "../../logic/graph_svg";
import { dotForPeople } from "../../logic/graph_text";
import { messageOf } from "../../logic/errors";
import { boxAfter } from "../../logic/roving";
import { download } from "../download";
import { measured } from "../measure";
import { Empty } from "../parts";
import { BoxOf } from "./box";
import { Column, type DrawingProps } from "./column";
import { Minimap } from "./minimap";

const MARGIN = 8;
/** Above and below the drawing, together, and something for rounding. */
const EDGE = 10;
const ZOOM = { smallest: 0.1, largest: 3, factor: 1.25 };
/** So long a drawing stays that follows the steps, while they go on. */
const PATIENCE = 90;

/** What is laid out, which may be what was to be drawn a moment ago. */
interface Laid {
  layout: Layout;
  items: readonly Item[];
  clusters: readonly Cluster[];
}

function useLayout(items: readonly Item[], clusters: readonly Cluster[]): Laid | string | null {
  const [laid, setLaid] = useState<Laid | string | null>(null);
  const text = useMemo(() => dotText(items, clusters), [items, clusters]);
  const first = useRef(true);
  useEffect(() => {
    let wanted = true;
    const begin = (): void => {
      draw(text).then(
        (layout) => wanted && setLaid({ layout, items, clusters }),
        (error: unknown) => wanted && setLaid(messageOf(error)),
      );
    };
    const timer = window.setTimeout(begin, first.current ? 0 : PATIENCE);
    first.current = false;
    return () => {
      wanted = false;
      window.clearTimeout(timer);
    };
  }, [text, items, clusters]);
  return laid;
}

export function Drawing(props: DrawingProps) {
  const { model, name, nodes, bodies, items: wanted, clusters: wantedClusters, shown, onOpen, onBody, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const laid = useLayout(wanted, wantedClusters);
  const [scale, setScale] = useState(1);
  const { layout: drawn, items, clusters } = typeof laid === "object" && laid !== null ? laid : { layout: null, items: [], clusters: [] };
  const current = useMemo(() => items.find((item) => item.nodes.some((node) => node.id === shown?.id)) ?? null, [items, shown]);
  const width = drawn ? drawn.width + 2 * MARGIN : 0;
  const height = drawn ? drawn.height + 2 * MARGIN : 0;

  const zoom = (by: number): void => setScale((was) => Math.min(ZOOM.largest, Math.max(ZOOM.smallest, was * by)));
  const fit = (): void => {
    const element = box.current;
    if (!element || width === 0) return;
    setScale(Math.min(1.5, Math.max(ZOOM.smallest, Math.min((element.clientWidth - EDGE) / width, (element.clientHeight - EDGE) / height))));
  };
  const zoomed: Record<string, () => void> = { "+": () => zoom(ZOOM.factor), "=": () => zoom(ZOOM.factor), "-": () => zoom(1 / ZOOM.factor), "0": () => setScale(1), f: fit };

  useLayoutEffect(() => {
    const at = drawn?.boxes.find((candidate) => candidate.node === current?.id);
    if (at) measured(() => (box.current ? keepInSight(box.current, at, scale) : undefined));
  }, [drawn, current, scale]);

  useEffect(() => {
    const element = box.current;
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? ZOOM.factor : 1 / ZOOM.factor);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, []);

  if (typeof laid === "string") return <Column {...props} why={laid} />;
  return (
    <div class="tw-draw">
      <div class="tw-draw-bar" role="toolbar" aria-label="Graph">
        <button type="button" class="tw-button" data-testid="zoom-out" aria-label="Smaller" title="Smaller (-)" onClick={() => zoom(1 / ZOOM.factor)}>−</button>
        <button type="button" class="tw-button tw-zoom" data-testid="zoom" aria-label={`Zoom ${Math.round(scale * 100)} %: back to 100 %`} title="Back to 100 % (0)" onClick={() => setScale(1)}>{Math.round(scale * 100)} %</button>
        <button type="button" class="tw-button" data-testid="zoom-in" aria-label="Larger" title="Larger (+)" onClick={() => zoom(ZOOM.factor)}>+</button>
        <button type="button" class="tw-button" data-testid="fit" title="Show the whole drawing (f)" onClick={fit}>fit</button>
        <span class="tw-spring" />
        <button
          type="button"
          class="tw-button"
          data-testid="download-svg"
          disabled={drawn === null}
          aria-label="Download the drawing as SVG"
          title="Download the drawing, as it is shown, as SVG"
          onClick={() => drawn && download(`${name}.svg`, "image/svg+xml", svgText(drawn, items, clusters))}
        >
          SVG ↓
        </button>
        <button
          type="button"
          class="tw-button"
          data-testid="download-dot"
          aria-label="Download the graph as DOT"
          title="Download the whole graph in Graphviz's language"
          onClick={() => download(`${name}.dot`, "text/vnd.graphviz", dotForPeople(name, nodes, (node) => [...(bodies.lift(node.id) ? [bodies.lift(node.id)?.outer ?? -1] : node.inputs)]))}
        >
          DOT ↓
        </button>
        {children}
      </div>
      <div
        class="tw-drawing"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Graph. Arrow keys on a box lead to others; + and - zoom, f shows all"
        onKeyDown={(event) => {
          const change = event.ctrlKey || event.metaKey || event.altKey ? undefined : zoomed[event.key];
          if (!change) return;
          event.preventDefault();
          event.stopPropagation();
          change();
        }}
      >
        {laid === null && <Empty>Laying out the graph…</Empty>}
        {drawn && <Picture model={model} drawn={drawn} scale={scale} items={items} clusters={clusters} current={current} onOpen={onOpen} onBody={onBody} />}
      </div>
      {drawn && <Minimap box={box} layout={drawn} margin={MARGIN} scale={scale} current={current?.id ?? null} />}
    </div>
  );
}

/** Scroll as little as shows a box of the drawing. Returns what scrolls. */
function keepInSight(element: HTMLElement, at: Box, scale: number): () => void {
  const { scrollTop, scrollLeft, clientHeight, clientWidth } = element;
  const [outer, inner] = [element.getBoundingClientRect(), element.querySelector("svg")?.getBoundingClientRect()];
  const x = (at.x + MARGIN) * scale + (inner ? inner.left - outer.left + scrollLeft : 0);
  const y = (at.y + MARGIN) * scale + (inner ? inner.top - outer.top + scrollTop : 0);
  const half = (at.width / 2) * scale;
  return () => {
    if (y - at.height * scale < scrollTop || y + at.height * scale > scrollTop + clientHeight) element.scrollTop = y - clientHeight / 2;
    if (x - half < scrollLeft || x + half > scrollLeft + clientWidth) element.scrollLeft = x - clientWidth / 2;
  };
}

interface PictureProps extends Pick<DrawingProps, "model" | "items" | "clusters" | "onOpen" | "onBody"> {
  drawn: Layout;
  scale: number;
  current: Item | null;
}

function Picture({ model, drawn, scale, items, clusters, current, onOpen, onBody }: PictureProps) {
  const svg = useRef<SVGSVGElement>(null);
  // Several explorers may stand in one document, and some be hidden.
  const arrow = useMemo(() => `tw-arrow-${Math.random().toString(36).slice(2)}`, []);
  const known = useMemo(() => new Map(items.map((item) => [item.id, item])), [items]);
  const [chosen, setChosen] = useState<number | null>(null);
  const step = model.paneAt.value;
  const begun = (item: Item | undefined): boolean => item?.nodes.some((node) => there(node, step)) ?? false;
  // One box takes the Tab key: the one that had the focus, else the current one.
  const stop = chosen !== null && known.has(chosen) ? chosen : (current?.id ?? drawn.boxes.find((at) => known.has(at.node))?.node ?? null);
  const [width, height] = [drawn.width + 2 * MARGIN, drawn.height + 2 * MARGIN];

  const onKeyDown = (event: KeyboardEvent, item: Item, pick: () => void): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = boxAfter(items, item.id, event.key);
    const own = event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End";
    if (event.key === "Enter" || event.key === " ") pick();
    else if (!own) return;
    event.preventDefault();
    event.stopPropagation();
    if (to === null) return;
    setChosen(to);
    svg.current?.querySelector<SVGElement>(`[data-box="${to}"]`)?.focus();
  };

  return (
    <svg ref={svg} width={width * scale} height={height * scale} viewBox={`-${MARGIN} -${MARGIN} ${width} ${height}`}>
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
        const { fold, body } = item;
        const pick = (): void => {
          setChosen(item.id);
          if (body !== null) onBody(body);
          else if (fold !== null) onOpen(fold);
          else model.openNode(node.id, true);
        };
        return <BoxOf key={item.id} at={at} item={item} begun={begun(item)} current={item === current} stop={item.id === stop} pick={pick} onKeyDown={(event) => onKeyDown(event, item, pick)} />;
      })}
    </svg>
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
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        fold();
      }}
    >
      <title>{body.text}</title>
      <rect width={at.width} height="20" rx="6" />
      <text x="9" y="15">{title}</text>
    </g>
  );
}

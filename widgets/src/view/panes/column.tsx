// A graph drawn without Graphviz: its boxes one below the other, in the order of the graph, and arcs from each to those that
// use it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Bodies, Cluster } from "../../logic/bodies";
import type { Item } from "../../logic/folds";
import { type GraphNode, there } from "../../logic/graph";
import { columnLayout } from "../../logic/column";
import type { Model } from "../../model";
import { measured } from "../measure";
import { BoxOf } from "./box";

export interface DrawingProps {
  model: Model;
  /** Of the graph, for the names of files. */
  name: string;
  /** All of the graph; `items` are the boxes to draw. */
  nodes: readonly GraphNode[];
  bodies: Bodies;
  items: readonly Item[];
  clusters: readonly Cluster[];
  shown: GraphNode | null;
  /** Is told of a folded module that is to be opened. */
  onOpen: (fold: string) => void;
  /** Is told of a body that is to be opened, or folded. */
  onBody: (body: number) => void;
  /** Further buttons. */
  children?: ComponentChildren;
}

/** `why` says why it is drawn so. */
export function Column({ model, items, shown, onOpen, onBody, children, why }: DrawingProps & { why: string }) {
  const box = useRef<HTMLDivElement>(null);
  const step = model.paneAt.value;
  const current = items.find((item) => item.nodes.some((node) => node.id === shown?.id)) ?? null;
  const { width, height, boxes, edges } = columnLayout(items);
  const at = boxes[current ? items.indexOf(current) : -1];
  useLayoutEffect(() => {
    if (!at) return;
    measured(() => {
      const element = box.current;
      if (!element || (at.y - at.height > element.scrollTop && at.y + at.height < element.scrollTop + element.clientHeight)) return undefined;
      const to = at.y - element.clientHeight / 2;
      return () => (element.scrollTop = to);
    });
  }, [at?.y]);
  return (
    <div class="tw-draw">
      <div class="tw-draw-bar" role="toolbar" aria-label="Graph">
        {children}
        <span class="tw-dim" data-testid="drawn-so">Boxes stand in the order of the graph, without Graphviz: {why}</span>
      </div>
      <div class="tw-drawing" ref={box} tabIndex={0} role="group" aria-label="Graph">
        <svg width={width} height={height}>
          {edges.map(({ from, to, path }) => (
            <path key={`${from}-${to}`} d={path} class={`tw-edge${from === current?.id || to === current?.id ? " tw-near" : ""}`} />
          ))}
          {items.map((item, i) => {
            const at = boxes[i];
            const pick = (): void => {
              if (item.body !== null) onBody(item.body);
              else if (item.fold !== null) onOpen(item.fold);
              else if (item.nodes[0]) model.openNode(item.nodes[0].id, true);
            };
            return at && (
              <BoxOf
                key={item.id}
                at={at}
                item={item}
                begun={item.nodes.some((node) => there(node, step))}
                current={item === current}
                stop
                pick={pick}
                onKeyDown={(event) => {
                  if (event.key === "Enter") pick();
                }}
              />
            );
          })}
        </svg>
      </div>
    </div>
  );
}

// A box of a drawn graph: a node, a folded module, or a folded body of an operator.
import { type Item, kindOf } from "../../logic/folds";
import type { Box } from "../../logic/graph";

interface BoxProps {
  at: Box;
  item: Item;
  begun: boolean;
  current: boolean;
  /** Whether the Tab key stops here. */
  stop: boolean;
  pick: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

export function BoxOf({ at, item, begun, current, stop, pick, onKeyDown }: BoxProps) {
  const [name, what] = item.lines;
  const kind = kindOf(item);
  const folded = item.body !== null || item.fold !== null;
  const id = item.body !== null ? "body" : item.fold !== null ? "module" : "node";
  const full = folded ? name : (item.nodes[0]?.name ?? name);
  const dead = item.nodes.every((one) => !one.live);
  const classes = ["tw-node", `tw-node-${kind}`, begun ? "" : "tw-later", dead ? "tw-dead" : "", current ? "tw-current" : ""];
  return (
    <g
      class={classes.join(" ")}
      transform={`translate(${at.x - at.width / 2} ${at.y - at.height / 2})`}
      role="button"
      tabindex={stop ? 0 : -1} // (An attribute of SVG, where case counts.)
      aria-label={folded ? `${id} ${name}, ${what}, folded: click to expand` : `node ${full}${what === "" ? "" : `, ${what}`}`}
      aria-current={current ? "true" : undefined}
      data-testid={id}
      data-node={full}
      data-box={item.id}
      onClick={pick}
      onKeyDown={onKeyDown}
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
}

// In the graph pane, the ways to what is under a node and under a graph.
import { useState } from "preact/hooks";
import { under } from "../../logic/dispatch";
import type { Model } from "../../model";
import type { Node } from "../../schema";
import { Going } from "../parts";

/** From a node of a captured graph into the steps under it. */
export function UnderNode({ model, node }: { model: Model; node: Node }) {
  if (node.op !== "call_function" && node.op !== "call_method") return null;
  const runs = under(model.dispatcher.value, node.id);
  const ways = runs.length > 0 ? runs.map((run) => run.direction) : node.fakes.some((fake) => fake.requires_grad) ? ["forward", "backward"] : ["forward"];
  const tracing = model.tracing.value?.node === node.id;
  return (
    <>
      <dt>under it</dt>
      <dd>
        {runs.length === 0 && !model.canTrace ? (
          <span class="tw-dim" data-testid="under-none">
            not recorded: open the recording in the kernel that made it, or record with <code>%%trace --level dispatch</code>
          </span>
        ) : (
          <>
            {ways.map((direction) => (
              <span key={direction}>
                <button type="button" class="tw-link" data-testid={`under-${direction}`} disabled={tracing} title={`What is under this ${node.target}?`} onClick={() => model.openUnder(node.id, direction)}>
                  {direction}
                </button>{" "}
              </span>
            ))}
            <span class="tw-dim">{tracing ? <Going text="Tracing" so={null} name="stop-tracing" stop={() => model.stopTracing()} /> : "at the dispatcher"}</span>
          </>
        )}
      </dd>
    </>
  );
}

/** The graphs of operators that the back end made of a captured graph, as text. */
export function LoweredGraphs({ model, graph }: { model: Model; graph: number }) {
  const lowered = model.meta.lowered.find((one) => one.graph === graph);
  const [part, setPart] = useState<"forward" | "backward" | "joint" | null>(null);
  if (!lowered) return null;
  const parts = (["forward", "backward", "joint"] as const).filter((one) => lowered[one] !== "");
  return (
    <div class="tw-lowered" data-testid="lowered-graphs">
      {lowered.reason !== "" ? <p>The back end runs this graph as it is: {lowered.reason}.</p> : (
        <div role="group" aria-label="Graphs of operators">
          lowered to{" "}
          {parts.map((one) => (
            <button key={one} type="button" class="tw-chip" aria-expanded={part === one} onClick={() => setPart(part === one ? null : one)}>
              {one} <span class="tw-dim">{lowered[one].split("\n").length}</span>
            </button>
          ))}
        </div>
      )}
      {part && <pre class="tw-code" data-testid="lowered-text" tabIndex={0} aria-label={`The ${part} graph`}>{lowered[part]}</pre>}
    </div>
  );
}

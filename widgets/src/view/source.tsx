// The user's source with the running expression marked, and the bytecode below it.
import { useMemo } from "preact/hooks";
import { brokenLines } from "../logic/breaks";
import { colourLines, markColumns } from "../logic/colour";
import { unitColumn } from "../logic/columns";
import type { Model } from "../model";
import { type Code, INSTR, type Instr } from "../schema";
import { codeLabel, Empty, place, Rows } from "./parts";

const ROW = 19;

/** The columns of `line` that `instr` stands for, in UTF-16 units; null when the line is not its. */
function span(instr: Instr, line: number, text: string): [number, number] | null {
  const [first, last] = [instr[INSTR.line], instr[INSTR.end_line] ?? instr[INSTR.line]];
  const [from, to] = [instr[INSTR.column], instr[INSTR.end_column]];
  if (first === null || last === null || line < first || line > last || from === null || to === null) return null;
  const indent = text.length - text.trimStart().length;
  return [line === first ? unitColumn(text, from) : indent, line === last ? unitColumn(text, to) : text.length];
}

export function Source({ model }: { model: Model }) {
  const viewed = model.viewed.value;
  const code = viewed?.code;
  const lines = useMemo(() => (code && code.source !== "" ? colourLines(code.source.replace(/\n$/, "")) : []), [code]);
  const broken = useMemo(() => brokenLines(model.meta, code?.id ?? -1), [code, model]);
  if (!viewed || !code) return <Empty>No step was recorded, so there is no source to show.</Empty>;
  if (lines.length === 0)
    return (
      <div class="tw-source" data-testid="source">
        <Empty>
          The source of {code.qualname} ({code.filename}) is not available; its bytecode is.
        </Empty>
      </div>
    );
  const instr = code.instructions[model.index.instruction[viewed.step] ?? -1];
  const current = viewed.line;
  return (
    <Rows
      items={lines}
      row={ROW}
      current={current === null ? null : current - code.first_line}
      label={`Source of ${code.qualname}: arrow keys choose a line, Enter goes to where it ran`}
      onPick={(i) => model.goToLine(code.first_line + i)}
      sight=".tw-marked"
      sightKey={viewed.step}
      testId="source"
      class="tw-source"
      render={(pieces, i) => {
        const number = code.first_line + i;
        const here = number === current;
        const text = pieces.map((piece) => piece.text).join("");
        const marked = instr ? span(instr, number, text) : null;
        return (
          <div key={number} class={here ? "tw-line tw-current" : "tw-line"} data-testid={here ? "source-current" : undefined} data-line={number}>
            <button
              type="button"
              tabIndex={-1}
              class={broken.has(number) ? "tw-number tw-broken" : "tw-number"}
              title={broken.has(number) ? "The graph breaks at this line. Click to go to the step where it ran" : "Go to the step where this line ran"}
              onClick={() => model.goToLine(number)}
            >
              {number}
            </button>
            <code>
              {(marked ? markColumns(pieces, marked[0], marked[1]) : pieces).map((piece, k) => (
                <span key={k} class={`tw-as-${piece.colour}${"marked" in piece && piece.marked ? " tw-marked" : ""}`}>
                  {piece.text}
                </span>
              ))}
            </code>
          </div>
        );
      }}
    />
  );
}

/** The lines of a code's bytecode; `current` is highlighted. Also used for generated code. */
export function BytecodeRows(props: { code: Code; current: number | null; testId?: string; onPick?: (at: number) => void }) {
  const { code, current, testId, onPick } = props;
  return (
    <Rows
      items={code.instructions}
      row={ROW}
      current={current}
      label={`Bytecode of ${code.qualname}${onPick ? ": arrow keys choose an instruction, Enter goes to where it ran" : ""}`}
      {...(onPick ? { onPick } : {})}
      {...(testId ? { testId } : {})}
      class="tw-bytecode"
      render={(instr, i) => {
        const here = i === current;
        const line = instr[INSTR.line];
        const starts = line !== null && line !== code.instructions[i - 1]?.[INSTR.line];
        return (
          <div
            key={i}
            class={here ? "tw-instr tw-current" : "tw-instr"}
            data-testid={here && testId ? `${testId}-current` : undefined}
            title={instr[INSTR.op] === instr[INSTR.opname] ? undefined : `handled as ${instr[INSTR.op]}`}
            onClick={onPick && (() => onPick(i))}
          >
            <span class="tw-of-line">{starts ? line : ""}</span>{" "}
            <span class="tw-offset">{instr[INSTR.offset]}</span>{" "}
            <span class="tw-op">{instr[INSTR.opname]}</span>{" "}
            <span class="tw-arg">{instr[INSTR.arg]}</span>
          </div>
        );
      }}
    />
  );
}

/** The bytecode, folded to the current instruction until it is wanted. */
export function Bytecode({ model }: { model: Model }) {
  const viewed = model.viewed.value;
  if (!viewed) return <Empty>No instruction was traced.</Empty>;
  const open = model.bytecode.value;
  const current = model.index.instruction[viewed.step] ?? null;
  const instr = current === null ? undefined : viewed.code.instructions[current];
  return (
    <>
      <button
        type="button"
        class="tw-bytecode-bar"
        data-testid="bytecode-fold"
        aria-expanded={open}
        title={open ? "Fold the bytecode" : "Show the bytecode"}
        onClick={() => {
          model.bytecode.value = !open;
        }}
      >
        <span class="tw-fold">{open ? "▾" : "▸"}</span> Bytecode{" "}
        {!open && instr && (
          <span class="tw-code" data-testid="bytecode-current">
            <span class="tw-op">{instr[INSTR.opname]}</span> <span class="tw-arg">{instr[INSTR.arg]}</span>
          </span>
        )}
      </button>
      {open && <BytecodeRows code={viewed.code} current={current} testId="bytecode" onPick={(at) => model.goToInstruction(at)} />}
    </>
  );
}

export function SourceTitle({ model }: { model: Model }) {
  const viewed = model.viewed.value;
  if (!viewed) return <>Source</>;
  const inner = model.chain.value.at(-1);
  return (
    <>
      <b>{codeLabel(model, viewed.code.id)}</b> <span class="tw-dim" title={viewed.code.filename}>{place(model, viewed.code.id, viewed.line)}</span>
      {inner && inner !== viewed && <span class="tw-dim"> · at its call, step {viewed.step}</span>}
    </>
  );
}

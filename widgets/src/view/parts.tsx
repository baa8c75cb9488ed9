// Small pieces that several panes use.
import { Component, type ComponentChildren, type ComponentType, h } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { functionOf } from "../logic/breaks";
import { dtypeText } from "../logic/graph";
import type { Model } from "../model";
import type { Code, FakeMeta, Place } from "../schema";
import { measured } from "./measure";

/** `Inner`, drawn again only when a property is another value. */
export function memo<P extends object>(Inner: ComponentType<P>): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const now = this.props as P;
      return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== now[name]);
    }

    override render() {
      return h(Inner, this.props as P);
    }
  };
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="tw-empty">{children}</p>;
}

/** A sentence; what stands between backticks in it is code. */
export function Said({ text }: { text: string }) {
  return <>{text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

/** How far long work is, and the button that stops it. `name` is the button's, for tests. */
export function Going({ text, so, name, stop }: { text: string; so: { done: number; total: number } | null; name: string; stop(): void }) {
  return (
    <>
      <span role="status">{text}…</span> <progress aria-label={text} max={so?.total || 1} value={so?.total ? so.done : undefined} />{" "}
      <button type="button" class="tw-button" data-testid={name} aria-label={`Stop ${text.toLowerCase()}`} onClick={stop}>Stop</button>
    </>
  );
}

/** A link to a step. */
export function StepLink({ model, step, children }: { model: Model; step: number | null; children?: ComponentChildren }) {
  if (step === null || step < 0) return <span class="tw-dim">{children ?? "before the first step"}</span>;
  return (
    <button type="button" class="tw-link" data-step={step} title={`Go to step ${step}`} onClick={() => model.go(step)}>
      {children ?? `step ${step}`}
    </button>
  );
}

/** The name of a function, without the functions it is defined in: `shrink` for `nested.<locals>.shrink`. */
export function codeLabel(model: Model, id: number): string {
  const code = model.meta.codes[id];
  if (!code) return "?";
  const from = code.resumes == null ? undefined : model.meta.codes[code.resumes];
  const name = (from ?? code).qualname.replace(/^.*<locals>\./, "");
  return from ? `${name}, resumed` : name;
}

/** The name of the cell whose code is traced itself, and not a function that it defines; null for others. */
export function cellName(code: Code | undefined): string | null {
  return code?.qualname === "cell" && code.filename.startsWith("Cell ") ? code.filename : null;
}

/** The same, with the line that the rest of a function is traced from: `forward, after line 15`. */
export function wholeLabel(model: Model, id: number): string {
  const code = model.meta.codes[id];
  const rest = code?.resumes == null ? "" : code.name.replace(/^`[^`]*`/, "");
  const whole = rest === "" ? id : (code?.resumes ?? id);
  return (cellName(model.meta.codes[whole]) ?? codeLabel(model, whole)) + rest;
}

/** `12 s`, `1.2 s`, `0.12 s`, `3 ms`. */
export function duration(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(seconds >= 10 ? 0 : 1)} s`;
  return seconds >= 0.1 ? `${seconds.toFixed(2)} s` : `${(1000 * seconds).toFixed(seconds >= 0.001 ? 0 : 1)} ms`;
}

/** A place, shorter: `In[3]:12` for `Cell In[3], line 12`. */
export function shortPlace(text: string): string {
  return text.replace(/^Cell (.*?)(?:, line (\d+))?$/, (_, cell: string, line?: string) => (line === undefined ? cell : `${cell}:${line}`));
}

/** `file.py:12`, short; in a notebook's cell as the notebook says it. */
export function place(model: Model, code: number | null, line: number | null): string {
  const found = code === null ? undefined : model.meta.codes[code];
  if (!found) return line === null ? "" : `line ${line}`;
  const file = found.filename.replace(/^.*[/\\]/, "");
  if (line === null) return file;
  return file.startsWith("Cell ") ? `${file}, line ${line}` : `${file}:${line}`;
}

/** `file.py:12 in forward`, and below it the library's line that this one leads to, if there is one. */
export function Where({ model, at }: { model: Model; at: { code: number | null; line: number | null; library: Place | null } }) {
  return (
    <>
      <Line model={model} code={at.code} line={at.line} />
      {at.library && (
        <span class="tw-dim tw-block">
          which runs, in a library: <Line model={model} code={at.library.code} line={at.library.line} />
        </span>
      )}
    </>
  );
}

function Line({ model, code, line }: { model: Model; code: number | null; line: number | null }) {
  return (
    <>
      <span class="tw-code" title={lineText(model, code, line)}>{place(model, code, line)}</span>
      {code !== null && <> in {model.meta.codes[functionOf(model.meta.codes, code)]?.qualname ?? "?"}</>}
    </>
  );
}

/** The text of a line of a code's source, without its indentation; empty when there is none. */
export function lineText(model: Model, code: number | null, line: number | null): string {
  const found = code === null ? undefined : model.meta.codes[code];
  if (!found || line === null) return "";
  return found.source.split("\n")[line - found.first_line]?.trim() ?? "";
}

/** `f32[4, s0]` with what its symbols stood for. */
export function Fake({ fake }: { fake: FakeMeta }) {
  const hints = Object.entries(fake.hints);
  return (
    <>
      {fake.dtype !== "" && (
        <span class="tw-code">
          {dtypeText(fake.dtype)}[{fake.shape.join(", ")}]
        </span>
      )}
      {hints.length > 0 && <span class="tw-dim"> with {hints.map(([symbol, hint]) => `${symbol} = ${hint}`).join(", ")}</span>}
    </>
  );
}

const MARGIN = 24;

/** How far to scroll sideways, as little as shows `part`; back to the left where that is enough. */
function inSight(box: HTMLElement, part: HTMLElement): number {
  const { left: from, width } = part.getBoundingClientRect();
  const left = from - box.getBoundingClientRect().left + box.scrollLeft;
  const right = left + width;
  if (right <= box.clientWidth) return 0;
  if (left < box.scrollLeft + MARGIN) return left - MARGIN;
  return right > box.scrollLeft + box.clientWidth ? Math.min(left - MARGIN, right - box.clientWidth + MARGIN) : box.scrollLeft;
}

interface RowsProps<T> {
  items: readonly T[];
  /** Height of a row, in pixels. */
  row: number;
  /** The row to keep in sight. */
  current: number | null;
  /** Selects the part of that row to keep in sight, sideways. */
  sight?: string;
  /** Changes when `sight` may stand for another part. */
  sightKey?: unknown;
  label: string;
  testId?: string;
  class?: string;
  /** Arrow keys move a cursor along the rows, and Enter picks one. */
  onPick?: (position: number) => void;
  render(item: T, position: number): ComponentChildren;
}

/** A long list of which only the rows in sight are made. */
export function Rows<T>({ items, row, current, sight, sightKey, label, testId, class: extra, onPick, render }: RowsProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const first = Math.max(0, Math.min(Math.floor(view.top / row), items.length) - 8);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / row) + 8);
  const [cursor, setCursor] = useState<number | null>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!onPick || event.ctrlKey || event.metaKey || event.altKey) return;
    const from = cursor ?? current ?? 0;
    const to = { ArrowDown: cursor === null ? from : from + 1, ArrowUp: cursor === null ? from : from - 1 }[event.key];
    if (to !== undefined) setCursor(Math.min(Math.max(0, to), items.length - 1));
    else if (event.key === "Enter" && event.target === event.currentTarget && cursor !== null) onPick(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  useLayoutEffect(() => setCursor(null), [items]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || cursor === null) return;
    if (cursor * row < element.scrollTop) element.scrollTop = cursor * row;
    else if ((cursor + 1) * row > element.scrollTop + element.clientHeight) element.scrollTop = (cursor + 1) * row - element.clientHeight;
  }, [cursor, row]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setView((was) => (was.height === element.clientHeight ? was : { ...was, height: element.clientHeight }));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  const see = (top: number, height: number): void => setView((was) => (was.top === top && was.height === height ? was : { top, height }));
  useLayoutEffect(() => {
    if (current === null) return;
    measured(() => {
      const element = box.current;
      if (!element) return undefined;
      const { scrollTop, clientHeight } = element;
      const top = current * row;
      const stays = top >= scrollTop + row && top + 2 * row <= scrollTop + clientHeight;
      const end = Math.max(0, items.length * row - clientHeight);
      const to = stays ? scrollTop : Math.min(end, Math.max(0, top - clientHeight / 2 + row / 2));
      return () => {
        if (!stays) element.scrollTop = to;
        see(to, clientHeight);
      };
    });
  }, [current, items, row]);

  useLayoutEffect(() => {
    if (sight === undefined) return;
    measured(() => {
      const element = box.current;
      const part = element?.querySelector<HTMLElement>(sight);
      if (!element || !part) return undefined;
      const to = inSight(element, part);
      return to === element.scrollLeft ? undefined : () => (element.scrollLeft = to);
    });
  }, [sight, sightKey]);

  return (
    <div
      ref={box}
      class={`tw-rows ${extra ?? ""}`}
      role="group"
      aria-label={label}
      tabIndex={0}
      data-testid={testId}
      data-cursor={cursor ?? undefined}
      onKeyDown={onKeyDown}
      onBlur={(event) => event.target === event.currentTarget && setCursor(null)}
      onScroll={(event) => see(event.currentTarget.scrollTop, event.currentTarget.clientHeight)}
    >
      <div class="tw-rows-all" style={{ height: `${items.length * row}px` }}>
        {cursor !== null && (
          <div class="tw-cursor" role="status" style={{ top: `${cursor * row}px`, height: `${row}px` }}>
            <span class="tw-hidden">{`row ${cursor + 1} of ${items.length}`}</span>
          </div>
        )}
        <div style={{ transform: `translateY(${first * row}px)` }}>{items.slice(first, last).map((item, i) => render(item, first + i))}</div>
      </div>
    </div>
  );
}

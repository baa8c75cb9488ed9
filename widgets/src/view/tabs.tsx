// The row of tabs. Those that do not fit are in a menu at its end.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Model, type Tab, TABS } from "../model";

export interface TabsProps {
  model: Model;
  /** Unique in the document. */
  id: string;
  labels: Record<Tab, { label: string; count?: (model: Model) => number }>;
  children?: ComponentChildren;
}

export function TabRow({ model, id, labels, children }: TabsProps) {
  const chosen = model.tab.value;
  const row = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [fitting, setFitting] = useState<number>(TABS.length);
  const [open, setOpen] = useState(false);
  const counts = TABS.map((tab) => labels[tab].count?.(model) ?? 0);
  const name = (i: number): string => {
    const { label } = labels[TABS[i] as Tab];
    return (counts[i] ?? 0) > 0 ? `${label}, ${counts[i]}` : label;
  };

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const measure = (): void => {
      const ends = [...element.children].map((tab) => (tab as HTMLElement).offsetLeft + (tab as HTMLElement).offsetWidth - element.offsetLeft);
      setFitting(ends.filter((end) => end <= element.clientWidth + 1).length);
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  /** Arrows on a focused tab go from tab to tab, as in any list of tabs; they do not step. */
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = tabAfter(chosen, event.key);
    if (open || to === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    model.tab.value = to;
    const fits = TABS.indexOf(to) < fitting;
    row.current?.querySelector<HTMLElement>(fits ? `#${id}-${to}` : '[data-testid="more-tabs"]')?.focus();
  };
  const badge = (i: number) =>
    (counts[i] ?? 0) > 0 && <span class={TABS[i] === "breaks" ? "tw-count tw-count-break" : "tw-count"}>{counts[i]}</span>;
  const beyond = TABS.indexOf(chosen) >= fitting;

  return (
    <div class="tw-tabs" ref={row} onKeyDown={onKeyDown}>
      <div class="tw-tab-list" role="tablist" aria-label="Panes" ref={list}>
        {TABS.map((tab, i) => {
          const fits = i < fitting;
          return (
            <button
              key={tab}
              type="button"
              role="tab"
              id={`${id}-${tab}`}
              class={fits ? "tw-tab" : "tw-tab tw-beyond"}
              aria-selected={tab === chosen}
              aria-controls={`${id}-pane`}
              aria-label={name(i)}
              tabIndex={tab === chosen && fits ? 0 : -1}
              data-testid={fits ? `tab-${tab}` : undefined}
              title={i < 9 ? `${labels[tab].label} (${i + 1})` : `${labels[tab].label} ([ and ] go to the panes beside)`}
              onClick={() => {
                model.tab.value = tab;
              }}
            >
              {labels[tab].label}
              {badge(i)}
            </button>
          );
        })}
      </div>
      {fitting < TABS.length && (
        <span class="tw-more-tabs">
          <button
            type="button"
            class={beyond ? "tw-tab tw-chosen" : "tw-tab"}
            data-testid="more-tabs"
            aria-haspopup="menu"
            aria-expanded={open}
            aria-label={beyond ? `${name(TABS.indexOf(chosen))}; more panes` : "More panes"}
            title="More panes"
            onClick={() => setOpen(!open)}
          >
            {beyond ? labels[chosen].label : "More"} ▾
          </button>
          {open && <Menu model={model} from={fitting} name={name} onClose={() => setOpen(false)} />}
        </span>
      )}
      {children}
    </div>
  );
}

interface MenuProps {
  model: Model;
  from: number;
  name(i: number): string;
  onClose(): void;
}

function Menu({ model, from, name, onClose }: MenuProps) {
  const box = useRef<HTMLDivElement>(null);
  // Before the next key, which is for the menu.
  useLayoutEffect(() => box.current?.querySelector<HTMLElement>("button")?.focus(), []);
  const close = (): void => {
    box.current?.parentElement?.querySelector<HTMLElement>("button")?.focus();
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (to === undefined) close();
    else items.at(to % items.length)?.focus();
  };
  return (
    <div
      class="tw-menu"
      role="menu"
      aria-label="More panes"
      ref={box}
      onKeyDown={onKeyDown}
      onFocusOut={(event) => {
        if (!(event.relatedTarget instanceof Node && box.current?.parentElement?.contains(event.relatedTarget))) onClose();
      }}
    >
      {TABS.slice(from).map((tab, i) => (
        <button
          key={tab}
          type="button"
          role="menuitemradio"
          aria-checked={tab === model.tab.value}
          data-testid={`tab-${tab}`}
          onClick={() => {
            model.tab.value = tab;
            close();
          }}
        >
          {name(from + i)}
        </button>
      ))}
    </div>
  );
}

/** The tab that an arrow key goes to from `tab`; null for other keys. */
function tabAfter(tab: Tab, key: string): Tab | null {
  const at = TABS.indexOf(tab);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[key];
  return to === undefined ? null : (TABS.at(to % TABS.length) ?? null);
}

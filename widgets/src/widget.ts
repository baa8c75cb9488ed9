// The part of anywidget's model that is used here.

export type Received = (content: unknown, buffers: DataView[]) => void;

/** Messages to the kernel and from it. */
export interface Channel {
  send(content: unknown): void;
  on(name: "msg:custom", callback: Received): void;
  off(name: "msg:custom", callback: Received): void;
}

export interface WidgetModel extends Channel {
  get(name: "position" | "height"): number;
  get(name: "failed_attempts" | "compared"): boolean;
  get(name: "my_code"): string[];
  get(name: "_build" | "_place" | "pane" | "note"): string;
  set(name: "position", value: number): void;
  save_changes(): void;
  on(name: "msg:custom", callback: Received): void;
  on(name: "change:position", callback: () => void): void;
  off(name: "msg:custom", callback: Received): void;
  off(name: "change:position", callback: () => void): void;
}

// The panes that come when they are first opened, with their styles: a module of its own, see `view/panes/coming.tsx`.
import "./style/beside.css";
import "./style/compare.css";
import "./style/dispatch.css";
import "./style/drawing.css";
import "./style/fixes.css";
import "./style/stops.css";

export { ComparePane } from "./view/panes/compare";
export { DispatchPane } from "./view/panes/dispatch";
export { Drawing } from "./view/panes/drawing";
export { FixesPane } from "./view/panes/fixes";
export { Stops } from "./view/panes/stops";
export { LoweredGraphs, UnderNode } from "./view/panes/under";

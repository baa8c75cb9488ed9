// Graphviz as WebAssembly, with its code inside: a module of its own, since it is large and only graphs need it.
export { Graphviz } from "@hpcc-js/wasm-graphviz";

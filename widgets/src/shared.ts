// What `panes.tsx` uses of the front end's other modules. `build.mjs` fills it in.
export const shared: Readonly<Record<string, unknown>> = {};

// src/ -> tracewalk/static/: `explorer.js`, the front end with its styles; `loader.js`, the widget's own module, which each
// saved notebook contains and which gets the front end from the kernel; `boot.js`, which gets it from the notebook's file;
// and `graphviz.js`, which the first graph gets. Nothing is fetched from a network.
// `--watch` rebuilds on change. The output is committed and must come out the same byte for byte on any machine.
import { readFile } from "node:fs/promises";
import * as esbuild from "esbuild";

/** Style sheets become texts in the module, which adds them to the page that it runs in. */
const styles = {
  name: "styles",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(await readFile(path, "utf8"), { loader: "css", minify: true, charset: "utf8" });
      const sheets = JSON.stringify(`${import.meta.dirname}/src/view/sheets`);
      return { contents: `import { addStyle } from ${sheets}; addStyle(${JSON.stringify(code.trim())});`, loader: "js", resolveDir: import.meta.dirname };
    });
  },
};

const options = {
  absWorkingDir: import.meta.dirname,
  outdir: "tracewalk/static",
  bundle: true,
  platform: "browser",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [styles],
  logLevel: "info",
};

const builds = [
  { ...options, format: "esm", entryPoints: { explorer: "src/main.tsx", loader: "src/loader.ts", graphviz: "src/graphviz.ts" } },
  { ...options, format: "iife", entryPoints: { boot: "src/boot.ts" } },
];
for (const one of builds) {
  if (process.argv.includes("--watch")) await (await esbuild.context(one)).watch();
  else await esbuild.build(one);
}

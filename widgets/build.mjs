// src/ -> tracewalk/static/explorer.js (one ES module, nothing fetched at run time) and explorer.css.
// `--watch` rebuilds on change. The output is committed and must come out the same byte for byte on any machine.
import * as esbuild from "esbuild";

const options = {
  absWorkingDir: import.meta.dirname,
  entryPoints: { explorer: "src/main.tsx" },
  outdir: "tracewalk/static",
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  minify: true,
  legalComments: "inline",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "info",
};

if (process.argv.includes("--watch")) await (await esbuild.context(options)).watch();
else await esbuild.build(options);

// src/ -> tracewalk/static/: `explorer.js`, the front end with its styles; `panes.js`, the panes that come when they are
// opened; `loader.js`, the widget's own module, which each saved notebook contains and which gets the front end from the
// kernel; `boot.js` and `explorer.packed`, which a notebook's file contains so that explorers open without one; and
// `graphviz.js`, which the first graph gets. Nothing is fetched from a network.
// `--watch` rebuilds on change. The output is committed and must come out the same byte for byte on any machine.
import { readFile, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import * as esbuild from "esbuild";
import { minify } from "terser";

const OUT = "tracewalk/static";

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

/** What `panes.js` contains itself; all other modules it shares with `explorer.js`, whose state is theirs. */
const OWN = /\/src\/(panes\.tsx|comparing\.ts|draw\.ts|logic\/.*|style\/.*|view\/panes\/(beside|compare|dispatch|drawing|fixes|minimap|stops|under)\.tsx)$/;

/** Leave out what `panes.js` shares. */
const outside = {
  name: "outside",
  setup(build) {
    build.onResolve({ filter: /.*/ }, async ({ path, pluginData, ...more }) => {
      if (pluginData === "resolving" || more.kind === "entry-point") return undefined;
      const found = await build.resolve(path, { ...more, pluginData: "resolving" });
      return OWN.test(found.path) ? found : { path: path.startsWith("preact") || path.startsWith("@") ? path : found.path, external: true };
    });
  },
};

/** Give `explorer.js` the list of what it shares, by name. */
const sharing = (names) => ({
  name: "sharing",
  setup(build) {
    build.onLoad({ filter: /\/src\/shared\.ts$/ }, () => {
      const imports = [...names].map(([name, from]) => `import { ${name} } from ${JSON.stringify(from)};`).join("\n");
      return { contents: `${imports}\nexport const shared = { ${[...names.keys()].join(", ")} };`, loader: "js", resolveDir: import.meta.dirname };
    });
  },
});

const options = {
  absWorkingDir: import.meta.dirname,
  bundle: true,
  write: false,
  format: "esm",
  platform: "browser",
  target: "es2022",
  legalComments: "inline",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
};

async function bundled(entry, more = {}) {
  const { outputFiles } = await esbuild.build({ ...options, entryPoints: [entry], ...more });
  return outputFiles[0].text;
}

/** Fewer characters; strings in single quotes, which are one character in a notebook's file, too. */
async function small(code, quote_style = 0) {
  const { code: text } = await minify(code, { module: true, ecma: 2022, compress: { passes: 3 }, format: { quote_style, comments: /^!|@license|@preserve/ } });
  return text;
}

/** The panes as a function of what they share, and the names of that, each with its module. */
async function panes() {
  const code = await bundled("src/panes.tsx", { plugins: [styles, outside] });
  const names = new Map();
  const body = code
    .replace(/^import \{([^}]*)\} from "([^"]*)";$/gm, (_, list, from) => {
      for (const one of list.split(",")) {
        const name = one.trim().split(" as ")[0];
        if (names.has(name) && names.get(name) !== from) throw new Error(`Two modules share a name with panes.js: ${name}`);
        names.set(name, from);
      }
      return `const {${list.replaceAll(" as ", ": ")}} = shared;`;
    })
    .replace(/^export \{([^}]*)\};$/m, (_, list) => `return {${list}};`);
  if (/^(import|export)\b/m.test(body)) throw new Error("panes.js imports or exports in a way that is not known here.");
  return { text: await small(`export const panes = (shared) => {${body}};`), names };
}

async function build() {
  const { text, names } = await panes();
  const explorer = await small(await bundled("src/main.tsx", { plugins: [styles, sharing(names)] }));
  const packing = await bundled("src/packing.ts");
  const { pack } = await import(`data:text/javascript,${encodeURIComponent(packing)}`);
  const files = {
    "explorer.js": explorer,
    "explorer.packed": pack(new TextEncoder().encode(explorer)),
    "panes.js": text,
    "loader.js": await small(await bundled("src/loader.ts")),
    "boot.js": await small(await bundled("src/boot.ts", { format: "iife" }), 1),
    "graphviz.js": await bundled("src/graphviz.ts", { minify: true }),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(`${import.meta.dirname}/${OUT}/${name}`, content);
    console.log(`${relative(process.cwd(), `${import.meta.dirname}/${OUT}/${name}`)}  ${Buffer.byteLength(content)} bytes`);
  }
}

await build();
if (process.argv.includes("--watch")) {
  const { watch } = await import("node:fs/promises");
  let timer;
  for await (const _ of watch(`${import.meta.dirname}/src`, { recursive: true })) {
    clearTimeout(timer);
    timer = setTimeout(() => build().catch((error) => console.error(error)), 100);
  }
}

// Bundle the scripts of the pages: one file that every page loads, and the charts beside it, which
// are loaded where a page has one. The folder to write to is given.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = process.argv[2];
rmSync(folder, { recursive: true, force: true });
await build({
  entryPoints: [fileURLToPath(new URL("main.js", import.meta.url))],
  outdir: folder,
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "linked",
  logLevel: "warning",
});

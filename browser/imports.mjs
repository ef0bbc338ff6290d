// Checks that Pyodide has what a side module imports: `imports.mjs pyodide.asm.wasm MODULE.so`. Without it Pyodide loads
// the module all the same, and ends when the first such function is called.
import { readFileSync } from "node:fs";

const [main, side] = process.argv.slice(2).map((it) => new WebAssembly.Module(readFileSync(it)));
const exported = new Set(WebAssembly.Module.exports(main).map((it) => it.name));
const own = new Set(WebAssembly.Module.exports(side).map((it) => it.name));
const missing = WebAssembly.Module.imports(side)
  .filter((it) => it.kind === "function" || it.module.startsWith("GOT."))
  .map((it) => it.name)
  .filter((it) => !exported.has(it) && !own.has(it));
if (missing.length) {
  console.error(`Pyodide has no ${missing.join(", ")}`);
  process.exit(1);
}

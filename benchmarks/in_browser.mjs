// How far clmap-lsp gets in a browser: imports every module in Pyodide, and says what the others miss.
//
//     npm install pyodide@314.0.7                                    in a folder of its own
//     pip install --no-deps --target site WHEEL pygls lsprotocol cattrs attrs platformdirs typing_extensions
//     (cd site && zip -qr ../site.zip .) && node in_browser.mjs site.zip
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const found = createRequire(join(process.cwd(), "package.json")).resolve("pyodide/pyodide.mjs");
const { loadPyodide } = await import(pathToFileURL(found));
const pyodide = await loadPyodide();
pyodide.FS.writeFile("/site.zip", readFileSync(process.argv[2]));
const said = pyodide.runPython(`
import collections, importlib, pkgutil, sys, zipfile
zipfile.ZipFile("/site.zip").extractall("/site")
sys.path.insert(0, "/site")
import clmap_lsp
imported, missing, other = 0, collections.Counter(), []
for it in pkgutil.walk_packages(clmap_lsp.__path__, "clmap_lsp."):
    if it.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(it.name)
        imported += 1
    except ModuleNotFoundError as error:
        missing[str(error.name).partition(".")[0]] += 1
    except BaseException as error:
        other.append(f"{it.name}: {error!r}")
f"{imported} modules import; without {dict(missing)} others do not; failed otherwise: {other or 'none'}"
`);
console.log(`Pyodide ${pyodide.version}: ${said}`);

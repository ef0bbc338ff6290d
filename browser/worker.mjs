// Runs clmap-lsp in Pyodide, away from the page, which stays usable and can end it at any time.
//
// in:  { id, source, device, options }
// out: { state } while it starts, { ready: seconds } once, then for each question { id, seconds, answer } or { id, failed }
import { loadPyodide } from "./pyodide.mjs";

const HERE = new URL(".", import.meta.url);
const FOLDER = "/clmap";

async function fetched(name) {
  const answer = await fetch(new URL(name, HERE));
  if (!answer.ok) throw new Error(`${name} could not be loaded (${answer.status})`);
  return answer;
}

async function start() {
  const began = performance.now();
  postMessage({ state: "Loading Python and the checker" });
  const { wheels } = await (await fetched("manifest.json")).json();
  const archives = wheels.map(async (it) => new Uint8Array(await (await fetched(it)).arrayBuffer()));
  const session = fetched("session.py").then((it) => it.text());
  const [pyodide] = await Promise.all([loadPyodide({ indexURL: HERE.href, fullStdLib: false }), ...archives]);
  postMessage({ state: "Starting the checker" });
  pyodide.FS.mkdirTree(FOLDER);
  for (const it of archives) pyodide.unpackArchive(await it, "wheel", { extractDir: FOLDER });
  pyodide.FS.writeFile(`${FOLDER}/session.py`, await session);
  pyodide.runPython(`import sys\nsys.path.insert(0, "${FOLDER}")`);
  const imported = pyodide.pyimport("session");
  postMessage({ ready: (performance.now() - began) / 1000 });
  return imported;
}

const started = start();
started.catch((error) => postMessage({ failed: String(error.message ?? error) }));

onmessage = async ({ data: { id, source, device, options } }) => {
  const session = await started;
  const began = performance.now();
  try {
    const answer = JSON.parse(session.look(source, device, options));
    postMessage({ id, seconds: (performance.now() - began) / 1000, answer });
  } catch (error) {
    postMessage({ id, failed: String(error.message ?? error) });
  }
};

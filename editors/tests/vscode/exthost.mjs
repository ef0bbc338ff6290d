// Runs a test module inside the extension host of a web VS Code, through VS Code's own test protocol.
// usage: node exthost.mjs BASE_URL WORKSPACE EXTENSION_DIR TESTS_JS
import path from "node:path";
import { launch } from "./page.mjs";

const [base, workspace, extension, tests] = process.argv.slice(2);
const remote = (it) => `vscode-remote://${new URL(base).host}${it}`;
const { page, close } = await launch();
let finish;
const finished = new Promise((resolve) => { finish = resolve; });
await page.exposeFunction("codeAutomationLog", (_type, parts) => {
  const text = parts.map(String).join(" ");
  if (process.env.VERBOSE || text.startsWith("e2e: ")) console.log(text.replace(/^e2e: /, "  "));
});
await page.exposeFunction("codeAutomationExit", (code) => finish(code));
const payload = [["extensionDevelopmentPath", remote(extension)], ["extensionTestsPath", remote(tests)], ["skipWelcome", "true"]];
await page.goto(`${base}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
const code = await Promise.race([finished, new Promise((resolve) => setTimeout(() => resolve("timeout"), 240000))]);
console.log(`${path.basename(tests)}: exit ${code}`);
await close();
process.exit(code === 0 ? 0 : 1);

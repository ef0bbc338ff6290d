// Runs a test module inside the extension host of a web VS Code, through VS Code's own test protocol.
// usage: node exthost.mjs BASE_URL WORKSPACE EXTENSION_DIR TESTS_JS
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const [base, workspace, extension, tests] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "chromium-"));
const remote = (it) => `vscode-remote://${new URL(base).host}${it}`;
const context = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
});
const page = context.pages()[0] ?? (await context.newPage());
let finish;
const finished = new Promise((resolve) => { finish = resolve; });
await page.exposeFunction("codeAutomationLog", (_type, parts) => {
  const text = parts.map(String).join(" ");
  if (process.env.VERBOSE || text.startsWith("e2e: ")) console.log(text.replace(/^e2e: /, "  "));
});
await page.exposeFunction("codeAutomationExit", (code) => finish(code));
const payload = [["extensionDevelopmentPath", remote(extension)], ["extensionTestsPath", remote(tests)], ["skipWelcome", "true"]];
await page.goto(`${base}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
const code = await Promise.race([finished, new Promise((resolve) => setTimeout(() => resolve("timeout"), 180000))]);
console.log(`${path.basename(tests)}: exit ${code}`);
await context.close();
fs.rmSync(profile, { recursive: true, force: true });
process.exit(code === 0 ? 0 : 1);

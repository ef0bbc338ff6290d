// A fresh VS Code with the extension and without the server: the offer to install it, then the first finding.
// usage: node install.mjs BASE_URL WORKSPACE ARTEFACTS HOME PYTHON
import fs from "node:fs";
import path from "node:path";
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts, home, python] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);

await me.step("offer", async () => {
  await me.visit(base, "k.cl");
  const offer = page.locator(".notification-list-item", { hasText: "clmap-lsp is not installed" });
  await offer.first().waitFor();
  const text = await offer.first().innerText();
  me.check("the server is offered where it is missing", /Install with uv[^]*Install with pip/.test(text), text);
  await me.shot("not-installed");
});

await me.step("first finding", async () => {
  const bin = path.join(home, ".local", "bin"); // Where `uv tool install clmap-lsp` puts the program.
  const program = path.join(bin, "clmap-lsp");
  fs.mkdirSync(bin, { recursive: true });
  fs.writeFileSync(program, `#!/bin/sh\nexec "${python}" -m clmap_lsp "$@"\n`, { mode: 0o755 });
  const installed = Date.now();
  await me.command("clmap: Restart Server");
  await me.editor("k.cl").locator(".squiggly-warning").first().waitFor({ state: "attached" });
  const seconds = (Date.now() - installed) / 1000;
  me.check(`the first finding shows ${seconds.toFixed(1)} s after the server was installed`, seconds < 60);
});

await close();
console.log(`install.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

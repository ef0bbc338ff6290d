// A fresh VS Code with the extension and without the server: one button installs it, and findings show by themselves.
// usage: node install.mjs BASE_URL WORKSPACE ARTEFACTS
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);
const offer = page.locator(".notification-list-item", { hasText: "clmap-lsp is not installed" });

await me.step("offer", async () => {
  await me.visit(base, "k.cl");
  await offer.first().waitFor();
  const text = await offer.first().innerText();
  me.check("the server is offered where it is missing", /Install Server[^]*Set Path/.test(text), text);
  await me.shot("not-installed");
});

await me.step("first finding", async () => {
  await offer.first().getByRole("button", { name: "Install Server" }).click();
  const progress = page.locator(".notification-list-item", { hasText: "installing the server" });
  await progress.first().waitFor();
  await me.shot("installing");
  // Nothing else is done: no terminal, no restart.
  await me.editor("k.cl").locator(".squiggly-warning").first().waitFor({ state: "attached", timeout: 600_000 });
  me.check("the first finding shows after one button", true);
  const device = page.locator(".statusbar-item", { hasText: "nvidia-hopper" });
  await device.first().waitFor();
  me.check("the status bar names the device model", true);
  await me.shot("installed");
});

await close();
console.log(`install.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

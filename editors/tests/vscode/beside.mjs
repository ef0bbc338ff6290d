// Beside another OpenCL extension with a server: ours offers once to turn that off, and it stays off.
// usage: node beside.mjs BASE_URL WORKSPACE ARTEFACTS
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);
const told = (text) => page.locator(".notification-list-item", { hasText: text });
const offer = told("completes and reports errors too");
const status = (text) => page.locator(".statusbar-item", { hasText: text });
const findings = () => me.editor("k.cl").locator(".squiggly-warning").first().waitFor({ state: "attached", timeout: 120_000 });

await me.step("offer", async () => {
  await me.visit(base, "k.cl");
  await status("other server runs").first().waitFor({ timeout: 120_000 });
  await offer.first().waitFor({ timeout: 120_000 });
  const text = await offer.first().innerText();
  me.check("its server is offered to be turned off, or to stay", /Turn Its Server Off[^]*Keep Both|Keep Both[^]*Turn Its Server Off/.test(text), text);
  me.check("the offer shows once", (await offer.count()) === 1);
  await me.shot("beside-offer");
});

await me.step("turned off", async () => {
  await offer.first().getByRole("button", { name: "Turn Its Server Off" }).click();
  const reload = told("it is off once the window is loaded anew");
  await reload.first().waitFor();
  await reload.first().getByRole("button", { name: "Reload Window" }).click();
  await status("other server is off").first().waitFor({ timeout: 120_000 });
  me.check("the setting counts for the other extension in the next window", true);
  await findings();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  me.check("nobody is asked again", (await offer.count()) === 0);
  await me.shot("beside-off");
});

await close();
console.log(`beside.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

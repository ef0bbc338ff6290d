// A setting that names a program that is not there: the message names setting, path and button.
// usage: node wrong.mjs BASE_URL WORKSPACE ARTEFACTS MISSING
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts, missing] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);

await me.step("wrong setting", async () => {
  await me.visit(base, "k.cl");
  const message = page.locator(".notification-list-item", { hasText: "clmap.server.interpreter" });
  await message.first().waitFor();
  const text = await message.first().innerText();
  me.check("it names the setting, the path and what mends it", text.includes(missing) && /Open Setting/.test(text), text);
  await me.shot("wrong-setting");
  await message.first().getByRole("button", { name: "Open Setting" }).click();
  await page.locator(".settings-editor").first().waitFor();
  me.check("the button opens the setting", true);
});

await close();
console.log(`wrong.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

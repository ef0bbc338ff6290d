// VS Code as a person sees it: from the squiggle to the saved fix; screenshots to be looked at.
// usage: node look.mjs BASE_URL WORKSPACE ARTEFACTS
import fs from "node:fs";
import path from "node:path";
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);
const onDisk = (name) => fs.readFileSync(path.join(workspace, name), "utf8");

async function squiggle() {
  await me.visit(base, "k.cl");
  const squiggles = me.editor("k.cl").locator(".squiggly-warning");
  await squiggles.first().waitFor({ state: "attached" });
  me.check("a squiggle", (await squiggles.count()) >= 1);
  await me.until(/x\straffic/);
  const text = await me.text();
  me.check("lenses say the launch and what can be run", /\d+x\d+\/16x16/.test(text) && /emulate/.test(text), text);
}

async function hover() {
  const word = await me.place("void");
  const at = { x: word.right + 12, y: word.y };
  const content = page.locator(".monaco-hover .monaco-hover-content:visible");
  let text = "";
  for (let turn = 0; turn < 8 && !/sectors/.test(text); turn++) {
    await page.mouse.move(at.x - 4 + turn, at.y);
    await page.mouse.move(at.x + turn, at.y);
    await page.waitForTimeout(1200);
    text = (await content.allInnerTexts()).join(" ");
  }
  me.check("the hover shows the finding", /swapped/.test(text), text);
  await me.shot("hover");
  await page.keyboard.press("Escape");
  await page.mouse.click(at.x, at.y);
}

async function menus() {
  await page.keyboard.press("F1");
  const input = page.locator(".quick-input-widget:visible input");
  await input.fill(">clmap: ");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Measure Kernel" }).first().waitFor();
  me.check("the palette has the commands", /Emulate Kernel at Cursor/.test(await me.text()));
  await me.shot("palette");
  await page.keyboard.press("Escape");
  const word = await me.place("void");
  await page.mouse.click(word.right + 12, word.y, { button: "right" });
  const item = page.locator(".monaco-menu .action-label", { hasText: /^clmap$/ });
  await item.first().hover();
  await page.locator(".monaco-menu .action-label", { hasText: "Measure Kernel" }).first().waitFor();
  me.check("the editor's menu has them too", true);
  await me.shot("menu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
}

async function panel() {
  await me.command("clmap: Show Memory Access of Kernel");
  const texts = await me.untilWebview(/sectors/);
  me.check("the panel shows the kernel", texts.some((it) => /mm/.test(it) && /lanes touch/.test(it)), texts.join("|"));
  await page.waitForTimeout(500);
  await me.shot("panel");
}

async function emulated() {
  await me.cursor(2, 16);
  await me.command("clmap: Emulate Kernel at Cursor");
  await me.until(/\bemulated\b/);
  const texts = await me.untilWebview(/Parallel spatial locality/);
  me.check("the panel shows locality once the kernel ran", texts.length > 0);
  await me.untilWebview(/Swap dimensions/, 120000);
  await page.waitForTimeout(500);
  await me.shot("panel-emulated");
}

const apply = page.locator(".monaco-button", { hasText: /^Apply$/ }).first();

async function panelFix() {
  const frame = await me.webview(/Verified fixes/);
  await frame.locator("#turn").fill("5");
  await me.untilWebview(/iteration 5 of loop k/);
  me.check("the panel walks the iterations of the loop", true);
  await frame.locator("#access-0").click();
  await me.untilWebview(/Addresses of B\[k \* N \+ c\]/);
  await frame.locator("#access-0").press("ArrowDown");
  await frame.locator("#access-1").press("Enter");
  await me.untilWebview(/Addresses of A\[r \* N \+ k\]/);
  me.check("accesses are chosen by mouse and keyboard", true);
  await frame.locator("section.fix", { hasText: "Stage" }).locator("button", { hasText: "Show the change" }).click();
  await page.locator(".monaco-diff-editor .modified .view-line", { hasText: "__local" }).first().waitFor();
  await page.waitForTimeout(500);
  const text = (await me.lines(page.locator(".monaco-diff-editor .modified"))).join("\n");
  me.check("a fix of the panel shows its change", /float A_tile[^]*int k0 = 0;[^]*B_tile\[ly\]\[lx\] =/.test(text), text);
  me.check("and leaves the file alone", onDisk("k.cl").includes("sum += B[k * N + c] * A[r * N + k];"));
  me.check("while the panel stays", (await frame.locator("body").innerText()).includes("Stage B and A"));
  await me.shot("panel-fix");
  await me.command("View: Close Editor");
}

async function fix() {
  await page.locator(".explorer-viewlet .monaco-list-row", { hasText: "k.cl" }).first().click();
  await page.locator(".tab.active", { hasText: "k.cl" }).first().waitFor();
  await me.cursor(2, 16);
  const menu = await me.fixes(/Swap dimensions/);
  const text = await menu.innerText();
  me.check("a verified fix says what it gains", /Swap dimensions: \d+\.\dx less traffic/.test(text), text);
  me.check("and so does the way to ignore the finding", /ignore CM104 here/.test(text), text);
  await me.shot("quickfix");
  const row = menu.locator(".monaco-list-row.action", { hasText: "Swap dimensions" }).first();
  for (let turn = 0; turn < 12 && !(await row.evaluate((it) => it.classList.contains("focused"))); turn++) {
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Control+Enter"); // Preview instead of apply.
  await apply.waitFor();
  await me.until(/int r = get_global_id\(01\)/); // The old digit struck through, the new one beside it.
  me.check("its change can be looked at first", onDisk("k.cl").includes("int r = get_global_id(0)"));
  await me.shot("preview");
  // The host must change too, so the change starts unticked: a person says that they have read it.
  await page.locator(".bulk-edit-panel .edit-checkbox").first().click();
  await apply.click();
  await apply.waitFor({ state: "hidden" });
  await me.editor("k.cl").first().click();
  await page.keyboard.press("Control+S");
  const end = Date.now() + 30000;
  while (!onDisk("k.cl").includes("int r = get_global_id(1)") && Date.now() < end) {
    await page.waitForTimeout(200);
  }
  me.check("and is then applied and saved", /int r = get_global_id\(1\)[^]*int c = get_global_id\(0\)/.test(onDisk("k.cl")), onDisk("k.cl"));
  await me.editor("k.cl").locator(".squiggly-warning").first().waitFor({ state: "detached" });
  me.check("the finding is gone", true);
  await me.until(/ideal\straffic|x\straffic/);
  await page.waitForTimeout(500);
  await me.shot("fixed");
}

async function progress() {
  await me.command("View: Close All Editors");
  await page.locator(".explorer-viewlet .monaco-list-row", { hasText: "spin.cl" }).first().dblclick();
  await me.editor("spin.cl").waitFor();
  await me.until(/emulate/);
  await me.cursor(2, 16);
  await me.command("clmap: Emulate Kernel at Cursor");
  const status = page.locator(".statusbar-item", { hasText: "Emulating spin 64" });
  await status.first().waitFor();
  me.check("progress shows in the status bar", true);
  await me.shot("progress");
  await status.first().click();
  const cancel = page.locator(".notification-list-item .monaco-button", { hasText: "Cancel" });
  await cancel.first().waitFor();
  await page.locator(".notification-list-item", { hasText: "Emulating spin 64" }).first().waitFor();
  await me.shot("progress-cancel");
  await cancel.first().click();
  await status.first().waitFor({ state: "detached", timeout: 10000 });
  await me.untilGone(/Emulating spin/);
  me.check("and ends when it is cancelled", true);
}

async function walkthrough() {
  await me.command("View: Close All Editors");
  const input = page.locator(".quick-input-widget:visible input");
  await page.keyboard.press("F1");
  await input.fill(">Welcome: Open Walkthrough");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Open Walkthrough" }).first().click();
  const mine = page.locator(".quick-input-list .monaco-list-row", { hasText: "Make OpenCL kernels fast" });
  await mine.first().click();
  await me.until(/Take a verified fix/);
  me.check("the walkthrough opens", /Install the server/.test(await me.text()));
  await page.waitForTimeout(1000);
  await me.shot("walkthrough");
}

for (const it of [squiggle, hover, menus, panel, emulated, panelFix, fix, progress, walkthrough]) {
  await me.step(it.name, it);
}
await close();
console.log(`look.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

// VS Code as a person sees it: squiggle, hover, quick fix menu, panel; screenshots to be looked at.
// usage: node look.mjs BASE_URL WORKSPACE ARTEFACTS
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const [base, workspace, artefacts] = process.argv.slice(2);
const file = "k.cl";
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "chromium-"));
let failed = 0;
const check = (name, ok, extra = "") => {
  console.log(`  ${ok ? "ok  " : "FAIL"} ${name} ${ok ? "" : extra}`);
  if (!ok) failed++;
};
const context = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1500, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
});
const page = context.pages()[0] ?? (await context.newPage());
page.setDefaultTimeout(60000);
const shot = (name) => page.screenshot({ path: path.join(artefacts, `vscode-${name}.png`) });
try {
  const payload = JSON.stringify([["openFile", `vscode-remote://${new URL(base).host}${workspace}/${file}`]]);
  await page.goto(`${base}/?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`);
  const editor = page.locator(`.editor-instance .monaco-editor[data-uri$="${file}"]`);
  await editor.waitFor();
  await editor.locator(".squiggly-warning").first().waitFor({ state: "attached" });
  check("a squiggle", (await editor.locator(".squiggly-warning").count()) >= 1);
  await page.waitForFunction(() => /sectors\/request/.test(document.body.innerText.replace(/\u00a0/g, " ")));
  check("lenses", true);
  const token = await page.evaluate(() => {
    for (const line of document.querySelectorAll(".editor-instance .view-line")) {
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent.indexOf("void");
        if (at < 0) continue;
        const box = line.getBoundingClientRect();
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 4);
        const word = range.getBoundingClientRect();
        return { x: word.right + 12, y: box.y + box.height / 2 };
      }
    }
    return null;
  });
  const hover = page.locator(".monaco-hover .monaco-hover-content:visible");
  let text = "";
  for (let turn = 0; turn < 6 && !/sectors/.test(text); turn++) {
    await page.mouse.move(token.x - 4 + turn, token.y);
    await page.mouse.move(token.x + turn, token.y);
    await page.waitForTimeout(1200);
    text = (await hover.allInnerTexts()).join(" ");
  }
  check("the hover shows the finding", /changed round/.test(text), text);
  await shot("hover");
  await page.keyboard.press("Escape");
  await page.mouse.click(token.x, token.y);
  await page.waitForTimeout(500);
  const menu = page.locator(".action-widget:not(.action-list-submenu-panel)");
  for (let turn = 0; turn < 6 && !(await menu.isVisible()); turn++) {
    await page.keyboard.press("Control+.");
    await page.waitForTimeout(1200);
  }
  check("the quick fix menu", /ignore CM104 here/.test(await menu.innerText()), await menu.innerText());
  await shot("quickfix");
  await page.keyboard.press("Escape");
  await page.keyboard.press("F1");
  await page.keyboard.type("clmap: Show Memory Access");
  await page.waitForTimeout(800);
  await page.keyboard.press("Enter");
  await page.waitForSelector("iframe.webview");
  await page.waitForTimeout(3000);
  const frame = page.frames().find((it) => it.url().includes("fake.html") || it.name() === "active-frame");
  const inner = page.frames().filter((it) => it.parentFrame()?.parentFrame());
  const texts = await Promise.all(inner.map((it) => it.locator("body").innerText().catch(() => "")));
  check("the panel shows the kernel", texts.some((it) => /mm/.test(it) && /sectors/.test(it)), texts.join("|") + String(frame));
  await shot("panel");
} catch (error) {
  failed++;
  console.log(`  FAIL ${String(error).slice(0, 500)}`);
  await shot("failure").catch(() => {});
} finally {
  await context.close();
  fs.rmSync(profile, { recursive: true, force: true });
}
console.log(`look.mjs: ${failed ? `${failed} failed` : "all ok"}`);
process.exit(failed ? 1 : 0);

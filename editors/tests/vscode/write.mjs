// Language features as a person sees them while they write; screenshots to be looked at.
// usage: node write.mjs BASE_URL WORKSPACE ARTEFACTS
import { launch, Person } from "./page.mjs";

const [base, workspace, artefacts] = process.argv.slice(2);
const { page, close } = await launch();
const me = new Person(page, workspace, artefacts);
const GLOBAL = "rgb(194, 87, 26)";
const LOCAL = "rgb(46, 139, 87)";

const line = () => page.locator(".statusbar-item", { hasText: /^Ln \d+/ }).first().innerText();

async function colours() {
  await me.visit(base, "tiles.cl");
  await page.waitForFunction(
    ([global, local]) => {
      const colour = (word) => {
        for (const it of document.querySelectorAll(".editor-instance .view-line span span")) {
          if (it.textContent.trim() === word) return getComputedStyle(it).color;
        }
      };
      return colour("in") === global && colour("tile") === local;
    },
    [GLOBAL, LOCAL],
    { polling: 200 },
  );
  me.check("global and local memory have their colours", true);
  await me.shot("colours");
}

async function outline() {
  await me.command("Explorer: Focus on Outline View");
  const rows = page.locator(".outline-tree .monaco-list-row");
  await rows.filter({ hasText: "weigh" }).first().waitFor();
  const names = await rows.allInnerTexts();
  me.check("the outline names the kernel and the function", /blur/.test(names.join(" ")) && /weigh/.test(names.join(" ")), names);
  await me.shot("outline");
}

async function definition() {
  await me.cursor(21, 18);
  await page.keyboard.press("F12");
  await page.waitForFunction(() => /^Ln 7,/m.test(document.body.innerText.replace(/\u00a0/g, " ")), null, { polling: 200 });
  me.check("F12 goes to the function", (await line()).startsWith("Ln 7,"), await line());
}

async function completion() {
  await me.cursor(21, 1);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("get_lo", { delay: 60 });
  const popup = page.locator(".suggest-widget.visible");
  await popup.locator(".monaco-list-row", { hasText: "get_local_id" }).first().waitFor();
  const rows = await popup.locator(".monaco-list-row").allInnerTexts();
  me.check("the popup has the built-in first", /get_local_(id|size)/.test(rows[0]), rows);
  await page.waitForTimeout(700);
  await me.shot("completion");
  await page.keyboard.press("Escape");
}

async function signature() {
  await page.keyboard.press("Control+Shift+K");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("clamp(1.0f, ", { delay: 60 });
  const hints = page.locator(".parameter-hints-widget.visible");
  await hints.waitFor();
  const text = await hints.innerText();
  me.check("signature help shows the overload of floats", /float clamp\(float x/.test(text), text);
  await page.waitForTimeout(500);
  await me.shot("signature");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+K");
}

async function rename() {
  await me.cursor(13, 20);
  await page.keyboard.press("F2");
  const box = page.locator(".rename-box input");
  await box.waitFor();
  await page.waitForTimeout(300);
  await me.shot("rename");
  await box.fill("patch");
  await page.keyboard.press("Enter");
  await me.until(/patch\[16\]/);
  const text = (await me.lines(me.editor("tiles.cl").first())).join("\n");
  me.check("F2 renames every place", !/\btile\b/.test(text) && /weigh\(patch/.test(text), text);
  await page.keyboard.press("Control+Z");
  await me.until(/tile\[16\]/);
}

async function formatting() {
  await me.cursor(21, 1);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type("out[ i ]=sum*1.0f ;", { delay: 20 });
  await page.keyboard.press("Escape");
  await me.command("Format Document");
  await me.until(/out\[i\] = sum \* 1\.0f;/);
  const text = (await me.lines(me.editor("tiles.cl").first())).join("\n");
  me.check("formatting sets the blanks and leaves the lines", /float weigh\(.*\n\{\n {4}return/.test(text), text);
  await me.shot("formatted");
  await page.keyboard.press("Control+Z");
}

for (const it of [colours, outline, definition, completion, signature, rename, formatting]) {
  await me.step(it.name, it);
}
await close();
console.log(`write.mjs: ${me.failed ? `${me.failed} failed` : "all ok"}`);
process.exit(me.failed ? 1 : 0);

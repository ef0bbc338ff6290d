// One VS Code in a headless Chromium, and what a person does in it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"];

export async function launch() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: "/usr/bin/chromium",
    headless: true,
    viewport: { width: 1500, height: 900 },
    args: ARGUMENTS,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(60000);
  const close = async () => {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true });
  };
  return { page, close };
}

/** VS Code as a person has it in front of them, with a file open. */
export class Person {
  failed = 0;

  constructor(page, workspace, artefacts) {
    this.page = page;
    this.workspace = workspace;
    this.artefacts = artefacts;
  }

  async visit(base, file) {
    const payload = JSON.stringify([["openFile", `vscode-remote://${new URL(base).host}${this.workspace}/${file}`]]);
    const folder = encodeURIComponent(this.workspace);
    await this.page.goto(`${base}/?folder=${folder}&payload=${encodeURIComponent(payload)}`);
    await this.editor(file).waitFor();
  }

  editor(file) {
    return this.page.locator(`.editor-instance .monaco-editor[data-uri$="${file}"]`);
  }

  check(name, ok, extra = "") {
    console.log(`  ${ok ? "ok  " : "FAIL"} ${name}${ok ? "" : ` ${String(extra).slice(0, 800)}`}`);
    this.failed += ok ? 0 : 1;
    return ok;
  }

  /** Run a step; a failure is counted and pictured, and the next step goes on. */
  async step(name, body) {
    try {
      await body();
    } catch (error) {
      this.check(name, false, error);
      await this.shot(`failure-${name.replace(/\W+/g, "-")}`).catch(() => {});
      for (let turn = 0; turn < 3; turn++) {
        await this.page.keyboard.press("Escape");
      }
    }
  }

  shot(name) {
    return this.page.screenshot({ path: path.join(this.artefacts, `vscode-${name}.png`) });
  }

  /** Everything that the window says, with plain blanks. */
  text() {
    return this.page.evaluate(() => document.body.innerText.replace(/\u00a0/g, " "));
  }

  async until(pattern, timeout = 60000) {
    await this.page.waitForFunction(
      (source) => new RegExp(source).test(document.body.innerText.replace(/\u00a0/g, " ")),
      pattern.source,
      { timeout, polling: 200 },
    );
  }

  async untilGone(pattern, timeout = 60000) {
    await this.page.waitForFunction(
      (source) => !new RegExp(source).test(document.body.innerText.replace(/\u00a0/g, " ")),
      pattern.source,
      { timeout, polling: 200 },
    );
  }

  /** Run a command by its title, as the palette shows it. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget:visible input");
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  /** Put the cursor somewhere; lines and columns count from 1. */
  async cursor(line, column) {
    await this.page.keyboard.press("Control+G");
    const input = this.page.locator(".quick-input-widget:visible input");
    await input.fill(`:${line}:${column}`);
    // An Enter before the place is read does nothing, and the input stays.
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: new RegExp(`\\b${line}\\b`) }).first().waitFor();
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  /** Open the menu of quick fixes at the cursor and return it. */
  async fixes(wanted = /./) {
    const menu = this.page.locator(".action-widget:not(.action-list-submenu-panel)");
    for (let turn = 0; turn < 20; turn++) {
      if (await menu.isVisible()) {
        if (wanted.test(await menu.innerText())) {
          return menu;
        }
        await this.page.keyboard.press("Escape");
        await this.page.waitForTimeout(1000);
      }
      await this.page.keyboard.press("Control+.");
      await this.page.waitForTimeout(1000);
    }
    throw new Error(`no quick fix ${wanted}`);
  }

  /** Where a word of the shown text is on the screen. */
  place(word) {
    return this.page.evaluate((wanted) => {
      for (const line of document.querySelectorAll(".editor-instance .view-line")) {
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const at = node.textContent.indexOf(wanted);
          if (at >= 0) {
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + wanted.length);
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return { x: (left + right) / 2, y: (top + bottom) / 2, right };
          }
        }
      }
      return null;
    }, word);
  }

  /** The lines that an editor shows, in order. */
  async lines(editor) {
    const found = await editor.locator(".view-line").evaluateAll((lines) =>
      lines.map((it) => [Number.parseInt(it.style.top, 10), it.textContent.replace(/\u00a0/g, " ")]),
    );
    return found.sort((one, other) => one[0] - other[0]).map(([, text]) => text);
  }

  /** The texts of the webviews that are open. */
  async webviews() {
    const inner = this.page.frames().filter((it) => it.parentFrame()?.parentFrame());
    return Promise.all(inner.map((it) => it.locator("body").innerText().catch(() => "")));
  }

  /** The frame of the webview that says something. */
  async webview(pattern) {
    await this.untilWebview(pattern);
    for (const frame of this.page.frames().filter((it) => it.parentFrame()?.parentFrame())) {
      if (pattern.test(await frame.locator("body").innerText().catch(() => ""))) {
        return frame;
      }
    }
    throw new Error(`the webview that said ${pattern} is gone`);
  }

  async untilWebview(pattern, timeout = 30000) {
    const end = Date.now() + timeout;
    for (;;) {
      const texts = await this.webviews();
      if (texts.some((it) => pattern.test(it))) {
        return texts;
      }
      if (Date.now() > end) {
        throw new Error(`no webview says ${pattern}: ${texts.join("|").slice(0, 500)}`);
      }
      await this.page.waitForTimeout(200);
    }
  }
}

// The docs' page "Try it in the browser": its checker is held to the command line on every kernel of fixtures/.
import { readFileSync } from "node:fs";

const PARTS = ["problem", "check", "said", "analysis"];

/** Presses Check on the page that is open, and returns what is wrong with what appears. */
export async function useChecker(page) {
  const wrong = [];
  await page.locator("#clmap-demo textarea").waitFor();
  await page.getByRole("button", { name: "Check" }).click();
  await page.locator("#clmap-demo .findings li").first().waitFor();
  const expect = async (locator, least, what) => {
    const found = await page.locator(locator).count();
    if (found < least) wrong.push(`/try/: ${found} ${what}, where there are at least ${least}`);
  };
  await expect("#clmap-demo .findings .severity.warning", 1, "warnings");
  await expect("#clmap-demo .table tbody tr", 6, "accesses");
  await expect("#clmap-demo .pictures svg .lane", 96, "work-items in pictures");
  await page.locator("#clmap-demo .findings .place").first().click();
  const selected = await page.locator("#clmap-demo textarea").evaluate((it) => it.value.slice(it.selectionStart, it.selectionEnd));
  if (selected !== "mm_simple") wrong.push(`/try/: the first finding selects "${selected}"`);
  wrong.push(...await strangeTexts(page), ...await stopping(page));
  return wrong;
}

const MARKUP = "<img src=x onerror=alert(1)>";
const STRANGE = {
  "an endless loop": "__kernel void k(__global int *a) { while (1) a[get_global_id(0)]++; }",
  "parentheses without end": `__kernel void k(__global int *a) { a[${"(".repeat(50_000)}0${")".repeat(50_000)}] = 1; }`,
  "macros that double": `#define M0 +1\n${Array.from({ length: 40 }, (_, i) => `#define M${i + 1} M${i} M${i}\n`).join("")}int x = M40;`,
  "a file that includes itself": '#include "kernel.cl"\n#include "kernel.cl"\n__kernel void k() {}',
  "markup": `#error ${MARKUP}\n#include "${MARKUP}"\n__kernel void k(__global int *a) { a[0] = "${MARKUP}"; }`,
  "no text": "",
};

/** Checks texts that are no honest kernels. Returns what has no answer, or becomes a part of the page. */
async function strangeTexts(page) {
  const wrong = [];
  page.on("dialog", (it) => { wrong.push(`/try/: a text of a kernel runs a script: ${it.message()}`); it.dismiss(); });
  const before = await page.locator("#clmap-demo textarea").inputValue();
  for (const [name, text] of Object.entries(STRANGE)) {
    await page.locator("#clmap-demo textarea").fill(text);
    await page.getByRole("button", { name: "Check" }).click();
    await page.locator("#clmap-demo .status", { hasText: /^Checked in/ }).waitFor()
      .catch(() => wrong.push(`/try/: no answer to ${name}`));
    const injected = await page.locator("#clmap-demo .results :is(img, script, iframe, [onerror])").count();
    if (injected) wrong.push(`/try/: ${name} becomes ${injected} elements of the page`);
  }
  await page.locator("#clmap-demo textarea").fill(before);
  return wrong;
}

/** Stops a check that takes minutes, and checks another text. Returns what is wrong with that. */
async function stopping(page) {
  const area = page.locator("#clmap-demo textarea");
  const before = await area.inputValue();
  const kernel = (i) => `__kernel void k${i}(__global int *a, int n) { a[get_global_id(0) * n + ${i}] = 1; }\n`;
  // A text of this length is typed in minutes, and set at once.
  await area.evaluate((it, text) => { it.value = text; }, Array.from({ length: 15_000 }, (_, i) => kernel(i)).join(""));
  await page.getByRole("button", { name: "Check" }).click();
  await area.fill(before); // The text may be edited while it is checked.
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator("#clmap-demo .status", { hasText: "Stopped." }).waitFor();
  const left = await page.locator("#clmap-demo .results *").count();
  await page.getByRole("button", { name: "Check" }).click();
  await page.locator("#clmap-demo .findings li").first().waitFor();
  return left ? [`/try/: ${left} elements of an older answer are left after Stop`] : [];
}

/** Asks the page's checker about every kernel. Returns what differs from the command line, and a summary. */
export async function compareWithCommandLine(page, expectedPath, manifestPath) {
  const wrong = [];
  const cases = JSON.parse(readFileSync(expectedPath, "utf8"));
  let findings = 0, seconds = 0;
  for (const { name, source, device, options, ...expected } of cases) {
    const found = await page.evaluate((it) => document.getElementById("clmap-demo").checker.ask(it), { source, device, options });
    seconds += found.seconds;
    findings += expected.check ? JSON.parse(expected.check).findings.length : 0;
    for (const part of PARTS)
      if (found.answer[part] !== expected[part])
        wrong.push(`${name} on ${device} ${options}: ${part} differs: ${firstDifference(found.answer[part] ?? "", expected[part] ?? "")}`);
  }
  if (cases.length < 50 || findings < 50) wrong.push(`only ${cases.length} questions with ${findings} findings were compared`);
  const { bytes, compressedBytes } = JSON.parse(readFileSync(manifestPath, "utf8"));
  const text = (await page.locator("article").innerText()).replace(/\s+/g, " ");
  const told = text.match(/loads (\d+(?:\.\d+)?) MB, which servers compress to (\d+(?:\.\d+)?) MB/)?.slice(1).map(Number) ?? [0, 0];
  for (const [n, loaded] of [bytes, compressedBytes].entries())
    if (Math.abs(told[n] - loaded / 1e6) > 0.5) wrong.push(`/try/ says ${told[n]} MB and loads ${loaded} bytes`);
  return [wrong, `${cases.length} questions with ${findings} findings answered as by the command line in ${seconds.toFixed(1)} s; ${(bytes / 1e6).toFixed(1)} MB to load, ${(compressedBytes / 1e6).toFixed(1)} MB compressed`];
}

function firstDifference(found, expected) {
  let at = 0;
  while (at < found.length && found[at] === expected[at]) at += 1;
  const around = (text) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  return `${around(found)} instead of ${around(expected)}`;
}

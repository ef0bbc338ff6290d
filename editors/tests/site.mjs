// The documentation site as a reader sees it: `site.mjs FOLDER SCREENSHOTS EXPECTED`. Every link and anchor of every page is
// followed in the files; pages are opened in Chromium, narrow and wide, light and dark, held against axe's rules, and
// must not scroll sideways. The checker of the page try/ is used, and answers as EXPECTED says that the command line does.
// Ends with 1 if anything is wrong.
import { chromium } from "playwright-core";
import axe from "axe-core";
import { createServer } from "node:http";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join, relative, resolve } from "node:path";
import { compareWithCommandLine, useChecker } from "./try.mjs";

const [folder, pictures, expected] = process.argv.slice(2).map((it) => resolve(it));
const TRY = "try/";
const LOOKED_AT = ["", "tutorial/", "rules/CM201/", TRY];
const WIDTHS = [400, 1000, 1600];
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const wrong = [];

/** Every page but those of single rules, which are made alike. */
function pagesRead() {
  const all = files(folder).filter((it) => it.endsWith("index.html")).map((it) => relative(folder, it).replace(/index\.html$/, ""));
  return [...LOOKED_AT, ...all.filter((it) => !LOOKED_AT.includes(it) && !/^rules\/./.test(it)).sort()];
}

function files(at) {
  return readdirSync(at, { withFileTypes: true }).flatMap((it) =>
    it.isDirectory() ? files(join(at, it.name)) : [join(at, it.name)]);
}

/** The file that a path of the site is served from. */
function served(path) {
  const file = join(folder, decodeURIComponent(path));
  return existsSync(file) && statSync(file).isDirectory() ? join(file, "index.html") : file;
}

const unquoted = (text) => text.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');

function checkLinks() {
  const pages = files(folder).filter((it) => it.endsWith(".html"));
  const texts = new Map(pages.map((it) => [it, readFileSync(it, "utf8")]));
  const anchors = new Map([...texts].map(([it, text]) =>
    [it, new Set([...text.matchAll(/\s(?:id|name)=(?:"([^"]*)"|([^\s>]+))/g)].map((found) => unquoted(found[1] ?? found[2])))]));
  let n = 0;
  for (const [page, text] of texts) {
    const own = "/" + relative(folder, page).replace(/index\.html$/, "");
    for (const found of text.matchAll(/\s(?:href|src)=(?:"([^"]*)"|([^\s>]+))/g)) {
      const link = new URL(unquoted(found[1] ?? found[2]), "http://site" + own);
      if (link.host !== "site") continue;
      n += 1;
      const target = served(link.pathname);
      const anchor = decodeURIComponent(link.hash.slice(1));
      if (!existsSync(target)) wrong.push(`${own}: no ${link.pathname}`);
      else if (anchor && anchors.has(target) && anchor !== "__skip" && !anchors.get(target).has(anchor))
        wrong.push(`${own}: no #${anchor} in ${link.pathname}`);
    }
  }
  if (n < 1000) wrong.push(`only ${n} links were found in ${texts.size} pages`);
  return `${n} links of ${texts.size} pages`;
}

function serve() {
  const server = createServer((request, response) => {
    const file = served(new URL(request.url, "http://site").pathname);
    if (!file.startsWith(folder) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

async function look(page, path, width, scheme) {
  await page.setViewportSize({ width, height: 900 });
  await page.waitForTimeout(400); // The theme fades what it rearranges.
  const where = `/${path} at ${width} pixels, ${scheme}`;
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (wide > narrow) wrong.push(`${where}: ${wide - narrow} pixels too wide`);
  const cut = await page.$$eval(".language-sh code", (all) => all.filter((it) => it.scrollWidth > it.clientWidth).length);
  if (cut) wrong.push(`${where}: ${cut} blocks of commands are cut off`);
  const found = await page.evaluate(async () => (await axe.run({ resultTypes: ["violations"] })).violations);
  for (const it of found)
    if (["serious", "critical"].includes(it.impact))
      wrong.push(`${where}: ${it.id} (${it.help}), ${it.nodes.length} times: ${it.nodes.slice(0, 3).map((node) => node.html.replace(/\s+/g, " ").slice(0, 120)).join(" | ")}`);
  await page.evaluate(() => scrollTo(0, 0));
  if (LOOKED_AT.includes(path))
    await page.screenshot({ fullPage: path === TRY, path: join(pictures, `site_${path.replaceAll("/", "") || "start"}_${width}_${scheme}.png`) });
  return found.length;
}

mkdirSync(pictures, { recursive: true });
const links = checkLinks();
const server = await serve();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
let n = 0, minor = 0, answered;
for (const scheme of ["light", "dark"]) {
  const page = await browser.newPage({ colorScheme: scheme, reducedMotion: "reduce" });
  page.setDefaultTimeout(600_000); // A busy machine is slow, and nothing here waits for what does not come.
  for (const path of pagesRead()) {
    await page.goto(`http://127.0.0.1:${server.address().port}/${path}`);
    await page.addScriptTag({ content: axe.source });
    if (path === TRY) wrong.push(...await useChecker(page));
    for (const width of LOOKED_AT.includes(path) ? WIDTHS : WIDTHS.slice(0, 1)) {
      minor += await look(page, path, width, scheme);
      n += 1;
    }
    if (path === TRY && scheme === "dark") {
      let differences;
      [differences, answered] = await compareWithCommandLine(page, expected, join(folder, "browser", "manifest.json"));
      wrong.push(...differences);
    }
  }
}
await browser.close();
server.close();
console.log(wrong.join("\n"));
console.log(`site: ${links}, ${n} views, ${wrong.length} wrong, ${minor} remarks of axe in all`);
console.log(`try: ${answered}`);
process.exitCode = wrong.length ? 1 : 0;

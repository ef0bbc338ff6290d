// What the checker said, as elements. Every text goes in as text: kernels are somebody's.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, children = []) {
  return filled(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, children = []) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...[children].flat());
  return node;
}

/** A message with its `code` set as code. */
function said(text) {
  return text.split("`").map((it, n) => (n % 2 ? element("code", {}, it) : it));
}

export function findingItem(finding, select) {
  const { code, name, severity, location, related, kernel } = finding;
  const at = element("button", { type: "button", class: "place" }, `line ${location.row}`);
  at.onclick = () => select(finding);
  const head = [
    element("span", { class: `severity ${severity}` }, severity), " ",
    element("a", { href: new URL(`../rules/${code}/`, import.meta.url).href }, `${code} ${name}`),
    kernel ? [" in ", element("code", {}, kernel)] : [], ", ", at,
  ].flat();
  const body = finding.message.split("\n").map((it) => element("p", {}, said(it)));
  const more = related.length ? [element("ul", {}, related.map((it) => element("li", {}, said(it.message))))] : [];
  return element("li", {}, [element("p", { class: "head" }, head), ...body, ...more]);
}

const number = (it) => (it === null || it === undefined ? "" : Number(it.toPrecision(4)).toLocaleString("en"));

const counted = (n, units) => `${number(n)} ${n === 1 ? units.slice(0, -1) : units}`;

function launchWords({ global, local, args, origin }) {
  const scalars = Object.entries(args).filter(([, it]) => typeof it === "number").map(([name, it]) => `, ${name}=${it}`);
  return `Launch: ${global.join("x")} in groups of ${local.join("x")}${scalars.join("")} (${origin}).`;
}

/** The accesses of a kernel with their costs and formulas, as `analyze` has them. */
export function accessTable(kernel) {
  const launch = kernel.launch;
  const words = launch ? launchWords(launch) : "No launch could be made.";
  const heads = ["line", "access", "operation", "a request", "ideal", "share", "in general"];
  const rows = kernel.accesses.map((it) => [
    String(it.location.row),
    element("code", {}, it.place),
    `${it.space} ${it.op}`,
    it.per_request ? counted(it.per_request.mean, it.per_request.unit) : it.reason ?? "unknown",
    number(it.per_request?.ideal),
    it.share === null ? "" : `${Math.round(100 * it.share)} %`,
    it.in_general ?? "",
  ]);
  const table = element("table", {}, [
    element("thead", {}, element("tr", {}, heads.map((it) => element("th", { scope: "col" }, it)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((it) => element("td", {}, it))))),
  ]);
  return [element("p", {}, words), ...(rows.length ? [element("div", { class: "table", tabindex: 0 }, table)] : [])];
}

/** Pictures of one SIMD group: which work-item touches which sector, or which words wait for which bank. */
export function figures(pictures) {
  return pictures.length ? [element("div", { class: "pictures" }, pictures.map(figure))] : [];
}

function figure(it) {
  const names = it.accesses.flatMap((name, n) => [n ? ", " : "", element("code", {}, name)]);
  return element("figure", {}, [
    it.banks ? banks(it) : sectors(it),
    element("figcaption", {}, [...names, ` ${it.caption}.`]),
  ]);
}

/** The numbers of the pieces of `size` bytes that an element touches. */
function touched(address, picture, size) {
  const first = Math.floor(address / size), last = Math.floor((address + picture.elementBytes - 1) / size);
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

const COLUMN = 14, ROW = 5, LEFT = 34, ABOVE = 4, BELOW = 22;

/** Work-items downwards; touched sectors side by side, whatever lies between them left out. */
function sectors(picture) {
  const size = picture.granule;
  const all = picture.lanes.flatMap((it) => (it === null ? [] : touched(it, picture, size)));
  const columns = [...new Set(all)].sort((a, b) => a - b);
  const place = new Map(columns.map((it, n) => [it, n]));
  const height = picture.lanes.length * ROW;
  const shades = columns.map((_, n) => shape("rect", { x: LEFT + n * COLUMN + 0.5, y: 0, width: COLUMN - 1, height, class: "shade" }));
  const gaps = columns.slice(1).flatMap((it, n) =>
    it === columns[n] + 1 ? [] : [shape("path", { class: "gap", d: `M${LEFT + (n + 1) * COLUMN},0V${height}` })]);
  const boxes = picture.lanes.flatMap((at, lane) => (at === null ? [] : touched(at, picture, size).map((sector) => {
    const from = Math.max(at, sector * size) - sector * size;
    const to = Math.min(at + picture.elementBytes, (sector + 1) * size) - sector * size;
    const width = Math.max(2, ((to - from) / size) * (COLUMN - 1));
    const x = LEFT + place.get(sector) * COLUMN + 0.5 + Math.min((from / size) * (COLUMN - 1), COLUMN - 1 - width);
    return shape("rect", { x, y: lane * ROW, width, height: ROW - 0.5, class: "lane" });
  })));
  const below = `${counted(columns.length, "sectors")} of ${size} bytes${gaps.length ? ", gaps left out" : ""}`;
  return drawn(picture, columns.length, height, below, [...shades, ...gaps, ...boxes, ...laneLabels(picture.lanes.length)]);
}

function laneLabels(count) {
  return [...new Set([0, count - 1])].map((it) =>
    shape("text", { x: LEFT - 4, y: it * ROW + ROW + 1, "text-anchor": "end" }, String(it)));
}

/** Banks side by side; above each the words that must pass through it, one after the other. */
function banks(picture) {
  const stacks = Array.from({ length: picture.banks }, () => new Set());
  for (const at of picture.lanes)
    if (at !== null) for (const word of touched(at, picture, picture.bankBytes)) stacks[word % picture.banks].add(word);
  const deepest = Math.max(4, ...stacks.map((it) => it.size));
  const row = Math.max(ROW, 48 / deepest), height = deepest * row;
  const boxes = stacks.flatMap((words, bank) => [...words].map((_, n) => shape("rect", {
    x: LEFT + bank * COLUMN + 0.5, y: height - (n + 1) * row + 0.5, width: COLUMN - 1, height: row - 1, class: n ? "conflict" : "lane",
  })));
  const label = shape("text", { x: LEFT - 4, y: 8, "text-anchor": "end" }, String(deepest));
  const base = shape("path", { class: "gap", d: `M${LEFT},${height}h${picture.banks * COLUMN}` });
  return drawn(picture, picture.banks, height, `${picture.banks} banks; words in each`, [...boxes, base, label]);
}

function drawn(picture, columns, height, below, parts) {
  const wide = LEFT + Math.max(columns, 12) * COLUMN, high = ABOVE + height + BELOW;
  const label = shape("text", { x: LEFT, y: height + 16 }, below);
  return shape("svg", { viewBox: `0 ${-ABOVE} ${wide} ${high}`, width: wide, role: "img", "aria-label": picture.caption }, [...parts, label]);
}

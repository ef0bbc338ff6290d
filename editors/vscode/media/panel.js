// Draws what the extension posts: { kernel: KernelView | null, cursorLine }. No data of its own, no network.
"use strict";
const vscode = acquireVsCodeApi();
const root = document.getElementById("panel");
let kernel = null;
let chosen = 0;

window.addEventListener("message", (event) => {
  const changed = !kernel || !event.data.kernel || kernel.name !== event.data.kernel.name;
  kernel = event.data.kernel;
  if (kernel) {
    const at = kernel.accesses.findIndex((it) => it.range.start.line === event.data.cursorLine);
    chosen = at >= 0 ? at : changed ? dearest() : Math.min(chosen, kernel.accesses.length - 1);
  }
  draw();
});

function dearest() {
  const shares = kernel.accesses.map((it) => it.share);
  return Math.max(0, shares.indexOf(Math.max(...shares)));
}

function counted(count, unit) {
  return `${round(count)} ${count === 1 ? unit.replace(/s$/, "") : unit}`;
}

function draw() {
  if (!kernel) {
    root.replaceChildren(element("p", {}, "Put the cursor in a kernel."));
    return;
  }
  const parts = [
    element("h1", {}, kernel.name),
    element("p", { class: "launch" }, `${kernel.launch} on ${kernel.device}`),
    ...kernel.faults.map((it) => element("p", { class: "fault" }, `line ${it.line + 1}: ${it.text}`)),
    element("h2", { id: "accesses" }, "Accesses"),
    accessTable(),
  ];
  const access = kernel.accesses[chosen];
  if (access) {
    parts.push(element("h2", {}, `One SIMD group at ${access.text}`), ...lanePicture(access));
  }
  if (kernel.psl) {
    parts.push(element("h2", {}, "Parallel spatial locality by dropped address bits"), pslChart());
  }
  root.replaceChildren(...parts);
}

function accessTable() {
  const head = ["", "access", "cost", "ideal", "traffic", "stride", "MAP"].map((it) => element("th", {}, it));
  const rows = kernel.accesses.map((access, index) => {
    const cost = access.mean === null ? "unknown" : counted(access.mean, access.unit);
    const verdict = access.mean === null || access.ideal === null ? "" : access.mean > access.ideal ? "bad" : "good";
    const row = element("tr", { class: "access", tabindex: "0", "aria-selected": String(index === chosen) }, [
      element("td", {}, access.op === "store" ? "store" : access.op),
      element("td", {}, element("code", {}, access.text)),
      element("td", { class: `number ${verdict}` }, cost),
      element("td", { class: "number" }, access.ideal === null ? "" : round(access.ideal)),
      element("td", { class: "number" }, `${Math.round(access.share * 100)} %`),
      element("td", {}, access.stride),
      element("td", {}, access.map ?? ""),
    ]);
    const choose = () => {
      chosen = index;
      draw();
      root.querySelectorAll("tr.access")[index]?.focus();
      vscode.postMessage({ reveal: access.range.start.line });
    };
    row.addEventListener("click", choose);
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const next = index + (event.key === "ArrowDown" ? 1 : -1);
        root.querySelectorAll("tr.access")[next]?.focus();
      }
    });
    return row;
  });
  const table = [element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)];
  return element("table", { "aria-labelledby": "accesses" }, table);
}

// Lanes as cells, coloured by the sector (global) or bank (local) that their bytes fall in.
function lanePicture(access) {
  const size = 22;
  const perRow = 16;
  const rows = Math.ceil(access.lanes.length / perRow);
  const group = (address) =>
    access.unit === "sectors"
      ? Math.floor(address / (kernel.granuleBytes ?? 32))
      : Math.floor(address / 4) % (kernel.banks ?? 32);
  const seen = new Map();
  const cells = access.lanes.flatMap((address, lane) => {
    const x = (lane % perRow) * size;
    const y = Math.floor(lane / perRow) * size;
    if (address === null) {
      return [shape("rect", { x, y, width: size, height: size, class: "lane", fill: "transparent" })];
    }
    const key = group(address);
    if (!seen.has(key)) {
      seen.set(key, seen.size);
    }
    const hue = (210 + seen.get(key) * 137.5) % 360;
    const cell = shape("rect", { x, y, width: size, height: size, class: "lane", fill: `hsl(${hue} 60% 55%)` });
    cell.append(shape("title", {}, `lane ${lane}: byte ${address}, ${what(access)} ${key}`));
    return [cell];
  });
  const width = perRow * size;
  const active = access.lanes.filter((it) => it !== null).length;
  const touched = access.unit === "sectors" ? counted(seen.size, "sectors") : counted(seen.size, "banks");
  const summary = `${counted(active, "lanes")} touch ${touched}${
    access.unit === "sectors" ? ` of ${kernel.granuleBytes ?? 32} bytes` : ""
  }`;
  const picture = shape(
    "svg",
    { viewBox: `0 0 ${width} ${rows * size}`, width, height: rows * size, role: "img", "aria-label": summary },
    cells,
  );
  const formula = access.formula ? [element("p", {}, access.formula)] : [];
  return [picture, element("p", {}, summary), ...formula];
}

function what(access) {
  return access.unit === "sectors" ? "sector" : "bank";
}

function pslChart() {
  const [width, height, left, bottom] = [420, 160, 36, 24];
  const x = (bits) => left + (bits * (width - left - 8)) / 10;
  const y = (value) => 8 + (1 - value) * (height - bottom - 8);
  const line = (values) => values.map((value, bits) => `${bits ? "L" : "M"}${x(bits)},${y(value)}`).join("");
  const parts = [
    shape("path", { class: "axis", d: `M${left},8V${height - bottom}H${width - 8}`, fill: "none" }),
    ...[0, 0.5, 1].map((value) => shape("text", { x: 4, y: y(value) + 4 }, value.toFixed(1))),
    ...[0, 2, 4, 6, 8, 10].map((bits) => shape("text", { x: x(bits) - 4, y: height - 8 }, String(bits))),
    ...kernel.others.map((it) => shape("path", { class: "other", d: line(it.psl) }, shape("title", {}, it.name))),
    shape("path", { class: "curve", d: line(kernel.psl) }, shape("title", {}, kernel.name)),
  ];
  const label = `PSL of ${kernel.name}: ${kernel.psl.map((it) => it.toFixed(2)).join(", ")}`;
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, parts);
}

function round(value) {
  return String(Math.round(value * 100) / 100);
}

function element(name, attributes, children) {
  return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes, children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...(children === undefined ? [] : Array.isArray(children) ? children : [children]));
  return node;
}

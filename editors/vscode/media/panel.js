// Draws what the extension posts: { kernel: KernelView | null, cursorLine }. No data of its own, no network.
"use strict";
const vscode = acquireVsCodeApi();
const root = document.getElementById("panel");
let kernel = null;
let chosen = 0;
let turn = 0;
let cursor = -1;

window.addEventListener("message", (event) => {
  const { kernel: next, cursorLine } = event.data;
  const another = !kernel || !next || kernel.name !== next.name;
  const moved = cursorLine !== cursor;
  kernel = next;
  cursor = cursorLine;
  if (kernel) {
    const at = kernel.accesses.findIndex((it) => it.range.start.line === cursorLine);
    const onLine = kernel.accesses[chosen]?.range.start.line === cursorLine;
    const before = chosen;
    if (another) {
      chosen = at >= 0 ? at : dearest();
    } else if (moved && at >= 0 && !onLine) {
      chosen = at;
    }
    chosen = Math.min(chosen, kernel.accesses.length - 1);
    turn = another || chosen !== before ? 0 : turn;
    askForPicture();
  }
  draw();
});

/** Ask for the work-group of the chosen access, unless it came already. */
function askForPicture() {
  const drawn = kernel.workGroup;
  if (chosen >= 0 && kernel.accesses.length && (drawn?.access !== chosen || drawn.turn !== turn)) {
    vscode.postMessage({ draw: { access: chosen, turn } });
  }
}

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
  const focus = document.activeElement?.id;
  const parts = [
    element("h1", {}, kernel.name),
    element("p", { class: "note" }, `${kernel.launch} on ${kernel.device}`),
    ...kernel.faults.map((it) => element("p", { class: "fault" }, `line ${it.line + 1}: ${it.text}`)),
    element("h2", { id: "accesses" }, "Accesses"),
    accessTable(),
    ...trafficChart(),
  ];
  const access = kernel.accesses[chosen];
  if (access) {
    parts.push(element("h2", {}, ["Addresses of ", element("code", {}, access.text)]), ...picture(access));
  }
  parts.push(...fixChart());
  if (kernel.psl) {
    parts.push(element("h2", {}, "Parallel spatial locality by dropped address bits"), pslChart(), pslLegend());
  }
  root.replaceChildren(...parts);
  if (focus) {
    document.getElementById(focus)?.focus();
  }
}

function verdict(access) {
  return access.mean === null || access.ideal === null ? "" : access.mean > access.ideal ? "bad" : "good";
}

function accessTable() {
  const head = ["", "access", "cost", "ideal", "traffic", "neighbours", "MAP"].map((it) => element("th", {}, it));
  const rows = kernel.accesses.map((access, index) => {
    const cost = access.mean === null ? "unknown" : counted(access.mean, access.unit);
    const id = `access-${index}`;
    const attributes = { class: "access", id, tabindex: "0", "aria-selected": String(index === chosen) };
    const row = element("tr", attributes, [
      element("td", {}, access.op),
      element("td", {}, element("code", {}, access.text)),
      element("td", { class: `number ${verdict(access)}` }, cost),
      element("td", { class: "number" }, access.ideal === null ? "" : round(access.ideal)),
      element("td", { class: "number" }, percent(access.share)),
      element("td", {}, access.stride),
      element("td", { class: "number" }, access.map ?? ""),
    ]);
    const choose = () => {
      chosen = index;
      turn = 0;
      askForPicture();
      draw();
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
        document.getElementById(`access-${next}`)?.focus();
      }
    });
    return row;
  });
  const table = [element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)];
  return element("table", { role: "grid", "aria-labelledby": "accesses" }, table);
}

/** Lines by their share of the kernel's traffic; those that pay more than they need are marked. */
function trafficChart() {
  const lines = new Map();
  for (const access of kernel.accesses) {
    const line = access.range.start.line;
    const known = lines.get(line) ?? { share: 0, bad: false };
    lines.set(line, { share: known.share + access.share, bad: known.bad || verdict(access) === "bad" });
  }
  const known = [...lines].filter(([, it]) => it.share > 0).sort((one, other) => one[0] - other[0]);
  if (!known.length) {
    return [];
  }
  const rows = known.map(([line, { share, bad }]) => {
    const words = `line ${line + 1}: ${percent(share)} of the traffic${bad ? ", more than it needs" : ""}`;
    return element("div", { class: "bar-row", role: "img", "aria-label": words, title: words }, [
      element("span", { class: "bar-name" }, `line ${line + 1}`),
      bar(share, bad ? "costly" : "fine"),
      element("span", { class: "bar-figure" }, percent(share)),
    ]);
  });
  return [element("h2", {}, "Traffic by line"), ...rows];
}

function bar(share, kind) {
  const width = `${Math.max(0.5, 100 * Math.min(1, share))}%`;
  const inside = shape("rect", { width, height: 12, class: kind });
  return element("span", { class: "bar" }, shape("svg", { width: "100%", height: 12, "aria-hidden": "true" }, inside));
}

// The first work-group: work-items as cells, coloured by the sector (global) or bank (local) that they touch.
function picture(access) {
  const group = kernel.workGroup?.access === chosen ? kernel.workGroup : null;
  const addresses = group?.addresses.length ? group.addresses : access.lanes;
  const formula = access.formula ? [element("p", { class: "note" }, `In general: ${access.formula}.`)] : [];
  if (!addresses.length) {
    return [element("p", { class: "note" }, "The addresses are not known."), ...formula];
  }
  const whole = Boolean(group?.addresses.length);
  const perRow = whole ? Math.min(kernel.localSize[0] ?? 16, 64) : 16;
  const [cells, size, rows] = laneCells(access, addresses, perRow);
  const width = perRow * size;
  const summary = summaryOf(access, addresses, whole);
  const svg = shape(
    "svg",
    { viewBox: `-1 -1 ${width + 2} ${rows * size + 2}`, width: width + 2, height: rows * size + 2, role: "img", "aria-label": summary },
    cells,
  );
  return [...turnChooser(group), svg, element("p", { "aria-live": "polite" }, summary), ...formula];
}

function keyOf(access, address) {
  return access.unit === "sectors"
    ? Math.floor(address / (kernel.granuleBytes ?? 32))
    : Math.floor(address / 4) % (kernel.banks ?? 32);
}

function laneCells(access, addresses, perRow) {
  const rows = Math.ceil(addresses.length / perRow);
  const size = Math.max(7, Math.min(22, Math.floor(440 / perRow)));
  const seen = new Map();
  const cells = addresses.map((address, item) => {
    const place = { x: (item % perRow) * size, y: Math.floor(item / perRow) * size, width: size, height: size };
    if (address === null) {
      return shape("rect", { ...place, class: "lane", fill: "transparent" }, shape("title", {}, `work-item ${item}: off`));
    }
    const key = keyOf(access, address);
    if (!seen.has(key)) {
      seen.set(key, seen.size);
    }
    const hue = (210 + seen.get(key) * 137.5) % 360;
    const words = `work-item ${item}: byte ${address}, ${access.unit === "sectors" ? "sector" : "bank"} ${key}`;
    return shape("rect", { ...place, class: "lane", fill: `hsl(${hue} 60% 55%)` }, shape("title", {}, words));
  });
  return [[...cells, ...borders(addresses.length, perRow, size)], size, rows];
}

/** Lines between SIMD groups, where they begin a new row. */
function borders(count, perRow, size) {
  const lines = [];
  for (let first = kernel.simdWidth; first < count && first % perRow === 0; first += kernel.simdWidth) {
    const y = (first / perRow) * size;
    lines.push(shape("path", { class: "border", d: `M0,${y}H${perRow * size}` }));
  }
  return lines;
}

function summaryOf(access, addresses, whole) {
  const lanes = access.lanes.length ? access.lanes : addresses.slice(0, kernel.simdWidth);
  const first = whole ? addresses.slice(0, kernel.simdWidth) : lanes;
  const active = first.filter((it) => it !== null);
  const touched = new Set(active.map((it) => keyOf(access, it))).size;
  const where = access.unit === "sectors" ? `${counted(touched, "sectors")} of ${kernel.granuleBytes ?? 32} bytes` : counted(touched, "banks");
  const groups = Math.ceil(addresses.length / kernel.simdWidth);
  const lead = whole && groups > 1 ? `First work-group, ${groups} SIMD groups; of the first, ` : "One SIMD group: ";
  return `${lead}${counted(active.length, "lanes")} touch ${where}.`;
}

/** A slider over the turns of the loop around the access. */
function turnChooser(group) {
  if (!group?.loop || group.turns === 1) {
    return [];
  }
  const last = (group.turns ?? 1024) - 1;
  const label = element("label", { for: "turn" }, `iteration ${group.turn} of loop ${group.loop}${group.turns === null ? "" : ` (0 to ${last})`}`);
  const slider = element("input", { id: "turn", type: "range", min: 0, max: last, value: group.turn });
  slider.addEventListener("input", () => {
    turn = Number(slider.value);
    askForPicture();
  });
  return [element("p", { class: "turn" }, [slider, label])];
}

/** Verified fixes, each with what the kernel moves before and after. */
function fixChart() {
  if (!kernel.fixes.length) {
    return [];
  }
  const most = Math.max(1, ...kernel.fixes.flatMap((it) => [moved(it.before), moved(it.after)]));
  const parts = kernel.fixes.map((fix, index) => {
    const [title, gain = ""] = fix.title.replaceAll("`", "").split(/: (?=[^:]*$)/);
    const show = element("button", { id: `show-${index}` }, "Show the change");
    show.addEventListener("click", () => vscode.postMessage({ show: index }));
    const take = element("button", { id: `take-${index}` }, "Apply");
    take.addEventListener("click", () => vscode.postMessage({ take: index }));
    const buttons = fix.safety === "display" ? [show] : [show, " ", take];
    const host = fix.hostChange ? [element("p", { class: "note" }, `The host must change too: ${fix.hostChange}.`)] : [];
    const rows = [["before", fix.before, "costly"], ["after", fix.after, "fine"]].map(([when, figures, kind]) =>
      element("div", { class: "bar-row", role: "img", "aria-label": `${when}: ${movedText(figures)}` }, [
        element("span", { class: "bar-name" }, when),
        bar(moved(figures) / most, kind),
        element("span", { class: "bar-figure" }, movedText(figures)),
      ]),
    );
    const head = element("h3", {}, title);
    return element("section", { class: "fix" }, [head, element("p", { class: "note" }, gain), ...rows, ...host, ...buttons]);
  });
  return [element("h2", {}, "Verified fixes"), ...parts];
}

function moved(figures) {
  return (figures.sectors ?? 0) + (figures.wavefronts ?? 0);
}

function movedText(figures) {
  const parts = [`${(figures.sectors ?? 0).toLocaleString("en")} sectors`];
  if (figures.wavefronts) {
    parts.push(`${figures.wavefronts.toLocaleString("en")} wavefronts`);
  }
  return parts.join(", ");
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

function pslLegend() {
  const others = kernel.others.map((it) => it.name).join(", ");
  return element("p", { class: "note" }, others ? `${kernel.name}; dashed: ${others}` : kernel.name);
}

function percent(share) {
  return `${share > 0 && share < 0.005 ? "<1" : Math.round(share * 100)} %`;
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

// The page "Try it in the browser": a kernel in, findings, formulas and pictures of addresses out.
import { accessTable, element, findingItem, figures } from "./show.mjs";

const HERE = new URL(".", import.meta.url);
const FIRST = "matmul/simple";
/** Milliseconds after which a check is said to take long. */
const LONG = 15_000;

class Checker {
  #worker = null;
  #waiting = new Map();
  #number = 0;

  constructor(say) {
    this.say = say;
  }

  /** Asks the worker, which is started at the first question. */
  ask(question) {
    this.#worker ??= this.#start();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...question });
    });
  }

  /** Ends whatever runs; the next question starts anew. */
  stop(reason) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const it of this.#waiting.values()) it.reject(new Error(reason));
    this.#waiting.clear();
  }

  #start() {
    const worker = new Worker(new URL("worker.mjs", HERE), { type: "module" });
    worker.onerror = (event) => this.stop(event.message || "the checker could not be started");
    worker.onmessage = ({ data }) => {
      if (data.state) return this.say(`${data.state} …`);
      if (data.ready) return this.say(`Checking (the checker started in ${data.ready.toFixed(1)} s) …`);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (!data.id) return this.stop(data.failed);
      return data.failed ? waiting.reject(new Error(data.failed)) : waiting.resolve(data);
    };
    return worker;
  }
}

function choice(label, name, options) {
  const select = element("select", { name }, options.map(([value, text]) => element("option", { value }, text)));
  return [element("label", {}, [label, select]), select];
}

async function json(name) {
  const answer = await fetch(new URL(name, HERE));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.json();
}

async function open(root) {
  const [{ examples, devices }, manifest] = await Promise.all([json("choices.json"), json("manifest.json")]);
  const [exampleLabel, example] = choice("Example", "example", Object.keys(examples).map((it) => [it, it]));
  const [deviceLabel, device] = choice("Device", "device", devices.map((it) => [it.id, it.name]));
  const source = element("textarea", { name: "source", spellcheck: "false", wrap: "off", rows: 18 });
  const options = element("input", { name: "options", type: "text", autocomplete: "off", placeholder: "such as --global 1024,1024 --local 16,16 --arg N=1024" });
  const check = element("button", { type: "submit", class: "md-button md-button--primary" }, "Check");
  const stop = element("button", { type: "button", class: "md-button", hidden: "" }, "Stop");
  const status = element("p", { class: "status", role: "status" },
    `The first check loads ${(manifest.compressedBytes / 1e6).toFixed(0)} MB, which the browser keeps. The kernel stays on this machine.`);
  const results = element("div", { class: "results" });
  const form = element("form", {}, [
    element("div", { class: "choices" }, [exampleLabel, deviceLabel]),
    element("label", {}, ["Kernels in OpenCL C", source]),
    element("label", {}, ["Launch and build options, as on the command line", options]),
    element("div", { class: "buttons" }, [check, stop]),
  ]);
  const checker = new Checker((text) => status.replaceChildren(text));
  const load = () => { source.value = examples[example.value]; results.replaceChildren(); };
  example.value = FIRST;
  device.value = devices.some((it) => it.id === "nvidia-hopper") ? "nvidia-hopper" : devices[0].id;
  load();
  example.onchange = load;
  stop.onclick = () => checker.stop("Stopped.");
  form.onsubmit = async (event) => {
    event.preventDefault();
    check.disabled = true;
    stop.hidden = false;
    status.replaceChildren("Checking …");
    const long = setTimeout(() => status.replaceChildren(
      "Still checking: texts of many kernels take minutes. Stop ends it; the text may be edited meanwhile."), LONG);
    try {
      const text = source.value;
      const { seconds, answer } = await checker.ask({ source: text, device: device.value, options: options.value });
      status.replaceChildren(answer.problem ? "" : `Checked in ${seconds.toFixed(2)} s.`);
      results.replaceChildren(...shown(answer, (finding) => select(source, text, finding)));
    } catch (error) {
      results.replaceChildren(); // They were those of an earlier text.
      status.replaceChildren(error.message);
    } finally {
      clearTimeout(long);
      check.disabled = false;
      stop.hidden = true;
    }
  };
  root.replaceChildren(form, status, results);
  root.checker = checker; // Whoever tests the page asks the checker itself.
}

function shown(answer, select) {
  if (answer.problem) return [element("p", { class: "problem" }, answer.problem.trim())];
  const { findings } = JSON.parse(answer.check);
  const kernels = JSON.parse(answer.analysis).files.flatMap((it) => it.kernels ?? []);
  return [
    element("h2", {}, "Findings"),
    findings.length ? element("ol", { class: "findings" }, findings.map((it) => findingItem(it, select))) : element("p", {}, "None."),
    ...kernels.flatMap((it) => [
      element("h2", {}, ["Kernel ", element("code", {}, it.name)]),
      ...accessTable(it),
      ...figures(answer.pictures[it.name] ?? []),
    ]),
    element("details", {}, [
      element("summary", {}, "As the command line prints it"),
      element("pre", { tabindex: 0 }, element("code", {}, answer.said)),
    ]),
  ];
}

/** Selects a finding in the text, and scrolls to it. */
function select(area, text, { location, end_location: end }) {
  if (area.value !== text) return;
  const lines = text.split("\n");
  const offset = ({ row, column }) =>
    lines.slice(0, row - 1).reduce((sum, it) => sum + it.length + 1, 0) + [...lines[row - 1]].slice(0, column - 1).join("").length;
  area.focus();
  area.setSelectionRange(offset(location), offset(end));
  area.scrollTop = Math.max(0, (location.row - 4) * parseFloat(getComputedStyle(area).lineHeight));
}

const root = document.getElementById("clmap-demo");
open(root).catch((error) => root.replaceChildren(element("p", {}, `The page could not be opened: ${error.message}`)));

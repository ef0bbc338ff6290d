// Runs inside the extension host of a real VS Code, against the extension as a user has it.
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { suite, wait } = require("./harness.js");

exports.run = async () => {
  const { test, finish } = suite();
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const uri = vscode.Uri.file(path.join(folder, "k.cl"));
  const opened = Date.now();
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const findings = () => vscode.languages.getDiagnostics(uri);
  const codes = () => findings().map((it) => it.code?.value ?? it.code);

  await test("a .cl file is OpenCL and activates the extension", async () => {
    assert.strictEqual(document.languageId, "opencl");
    const extension = vscode.extensions.getExtension("clmap-lsp.clmap");
    await wait(() => extension.isActive);
    const { activationMs } = extension.exports;
    console.log(`e2e: activated in ${activationMs.toFixed(1)} ms`);
    assert.ok(activationMs < 300, `${activationMs} ms`);
  });

  await test("the swapped dimensions show as a finding on the kernel's name", async () => {
    await wait(() => codes().includes("CM104"));
    console.log(`e2e: first finding ${Date.now() - opened} ms after opening the file`);
    const found = findings().find((it) => it.code.value === "CM104");
    assert.strictEqual(document.getText(found.range), "mm");
    assert.match(found.code.target.toString(), /CM104/);
  });

  await test("the hover says what an access costs", async () => {
    const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(7, 31));
    const text = hovers.flatMap((it) => it.contents.map((part) => part.value ?? part)).join("\n");
    assert.match(text, /16 sectors a request/);
  });

  await test("lenses show launch and cost", async () => {
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
    const titles = lenses.map((it) => it.command?.title ?? "").join("\n");
    assert.match(titles, /64x64\/16x16/);
    assert.match(titles, /x traffic/);
  });

  await test("hints stand at the accesses", async () => {
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", uri, whole);
    assert.deepStrictEqual([...new Set(hints.map((it) => it.position.line))].sort(), [7, 8]);
  });

  await test("saving emulates, and the lens then shows locality", async () => {
    await vscode.window.showTextDocument(document);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(document.lineCount, 0), "// a comment\n");
    await vscode.workspace.applyEdit(edit);
    await document.save();
    await wait(async () => {
      const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
      return lenses.some((it) => /^emulated$/.test(it.command?.title ?? ""));
    }, 60000);
  });

  await test("closing a file drops its run, and the server stays quick", async () => {
    const spin = vscode.Uri.file(path.join(folder, "spin.cl"));
    await vscode.commands.executeCommand("vscode.open", spin); // As a click does: nothing else keeps it open.
    const endless = await wait(() => vscode.workspace.textDocuments.find((it) => it.uri.path === spin.path));
    const lenses = async () => {
      const found = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", spin);
      return found.map((it) => it.command?.title ?? "").join(" | ");
    };
    await wait(async () => /emulate/.test(await lenses()));
    const running = vscode.commands.executeCommand("clmap.emulate", spin.toString(), { line: 1, character: 15 });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const hover = await vscode.commands.executeCommand("vscode.executeHoverProvider", uri, new vscode.Position(7, 31));
    assert.ok(hover.length > 0);
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    await wait(() => endless.isClosed);
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 25000)); // The kernel has a minute.
    assert.notStrictEqual(await Promise.race([running.then(() => "", () => ""), late]), "late");
    await vscode.window.showTextDocument(document);
  });

  await test("a quick fix is offered and ignoring works", async () => {
    const found = findings().find((it) => it.code.value === "CM104");
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, found.range, "quickfix");
    const ignore = actions.find((it) => /ignore CM104 here/.test(it.title));
    assert.ok(ignore, actions.map((it) => it.title).join("; "));
    assert.ok(await vscode.workspace.applyEdit(ignore.edit));
    await wait(() => !codes().includes("CM104"));
    await vscode.commands.executeCommand("undo");
    await wait(() => codes().includes("CM104"));
  });

  await test("a verified fix is taken and saved, and the kernel still runs without faults", async () => {
    const before = document.getText();
    const place = new vscode.Range(1, 14, 1, 16);
    const offered = async () => {
      const found = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, place, undefined, 50);
      return found.find((it) => /^Stage .*x less traffic/.test(it.title));
    };
    const stage = await wait(offered, 60000);
    assert.ok(await vscode.workspace.applyEdit(stage.edit));
    assert.match(document.getText(), /float A_tile[^]*int k0 = 0;[^]*B_tile\[ly\]\[lx\] =/);
    await document.save();
    const lenses = () => vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
    await wait(async () => (await lenses()).some((it) => /^emulated$/.test(it.command?.title ?? "")), 60000);
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const back = new vscode.WorkspaceEdit();
    back.replace(uri, whole, before);
    await vscode.workspace.applyEdit(back);
    await document.save();
    await wait(() => codes().includes("CM104"));
  });

  await test("fixing the kernel by hand clears the finding", async () => {
    const text = document.getText();
    const fixed = text.replace("get_global_id(0)", "get_global_id(X)").replace("get_global_id(1)", "get_global_id(0)").replace("get_global_id(X)", "get_global_id(1)");
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), fixed);
    await vscode.workspace.applyEdit(edit);
    await wait(() => !codes().includes("CM104"));
    await vscode.commands.executeCommand("undo");
    await wait(() => codes().includes("CM104"));
  });

  await test("the panel opens", async () => {
    await vscode.commands.executeCommand("clmap.showPanel");
    await wait(() => vscode.window.tabGroups.all.flatMap((it) => it.tabs).some((it) => it.label === "Memory access"));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  });

  await test("debug information names the versions", async () => {
    await vscode.commands.executeCommand("clmap.debugInformation");
    const text = await wait(() => vscode.window.activeTextEditor?.document.languageId === "plaintext" && vscode.window.activeTextEditor.document.getText());
    assert.match(text, /clmap-lsp \d/);
    assert.match(text, /extension \d/);
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  });

  await test("a changed setting takes effect", async () => {
    await vscode.window.showTextDocument(document);
    const settings = vscode.workspace.getConfiguration("clmap", uri);
    await settings.update("ignore", ["CM104"], vscode.ConfigurationTarget.Workspace);
    await wait(() => !codes().includes("CM104"));
    await settings.update("ignore", undefined, vscode.ConfigurationTarget.Workspace);
    await wait(() => codes().includes("CM104"));
  });

  await test("a changed clmap.toml takes effect, and its faults show in it", async () => {
    const configuration = vscode.Uri.file(path.join(folder, "clmap.toml"));
    const faults = () => vscode.languages.getDiagnostics(configuration).map((it) => it.message).join("; ");
    fs.writeFileSync(configuration.fsPath, '[rules]\nignore = ["CM104"]\n');
    await wait(() => !codes().includes("CM104"));
    fs.writeFileSync(configuration.fsPath, 'device = "adreno64"\n');
    await wait(() => /adreno64/.test(faults()));
    fs.rmSync(configuration.fsPath);
    await wait(() => codes().includes("CM104") && !faults());
  });

  await test("the server restarts by command", async () => {
    await vscode.commands.executeCommand("clmap.restart");
    await wait(() => codes().includes("CM104"));
  });

  await test("a killed server comes back", async () => {
    const debug = await vscode.commands.executeCommand("clmap.debug");
    process.kill(Number(/server process (\d+)/.exec(debug)[1]), "SIGKILL");
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), "\n");
    await vscode.workspace.applyEdit(edit);
    await wait(() => findings().some((it) => it.code.value === "CM104" && it.range.start.line === 2), 60000);
    await vscode.commands.executeCommand("undo");
  });

  finish();
};

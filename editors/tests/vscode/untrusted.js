// In a workspace that is not trusted, kernels are analysed but never run, and no named program is started.
const assert = require("node:assert");
const path = require("node:path");
const vscode = require("vscode");
const { suite, wait } = require("./harness.js");

exports.run = async () => {
  const { test, finish } = suite();
  const uri = vscode.Uri.file(path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, "k.cl"));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);

  await test("the workspace is not trusted", () => assert.strictEqual(vscode.workspace.isTrusted, false));

  await test("kernels are analysed all the same", async () => {
    await wait(() => vscode.languages.getDiagnostics(uri).some((it) => it.code?.value === "CM104"));
  });

  await test("saving runs nothing", async () => {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(document.lineCount, 0), "// a comment\n");
    await vscode.workspace.applyEdit(edit);
    await document.save();
    await new Promise((resolve) => setTimeout(resolve, 4000));
    const lenses = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri);
    assert.ok(!lenses.some((it) => /^emulated/.test(it.command?.title ?? "")));
  });

  finish();
};

// Language features, asked as VS Code asks them, in the extension as a user has it.
const assert = require("node:assert");
const path = require("node:path");
const vscode = require("vscode");
const { suite, wait } = require("./harness.js");

exports.run = async () => {
  const { test, finish } = suite();
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const uri = vscode.Uri.file(path.join(folder, "tiles.cl"));
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const whole = document.getText();
  const ask = (what, ...more) => vscode.commands.executeCommand(`vscode.execute${what}Provider`, uri, ...more);
  const at = (needle, inside = 0) => document.positionAt(document.getText().indexOf(needle) + inside);
  const insert = async (place, text) => assert.ok(await editor.edit((it) => it.insert(place, text)));
  const restore = async () => {
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    await editor.edit((it) => it.replace(all, whole));
  };

  await test("the outline has the kernel and what it declares", async () => {
    const symbols = await wait(async () => {
      const found = await ask("DocumentSymbol");
      return found?.length && found;
    });
    assert.deepStrictEqual(symbols.map((it) => it.name).sort(), ["AT", "blur", "filter", "weigh"]);
    const blur = symbols.find((it) => it.name === "blur");
    assert.ok(blur.children.some((it) => it.name === "tile"), blur.children.map((it) => it.name).join());
  });

  await test("definitions are found through calls, macros and in headers", async () => {
    const lead = async (needle) => {
      const [found] = await ask("Definition", at(needle, 1));
      const range = found.targetSelectionRange ?? found.range;
      return [path.basename((found.targetUri ?? found.uri).path), range.start.line];
    };
    assert.deepStrictEqual(await lead("weigh(tile"), ["tiles.cl", at("float weigh").line]);
    assert.deepStrictEqual(await lead("AT(y, x)"), ["tiles.cl", at("#define AT").line]);
    assert.deepStrictEqual(await lead("RADIUS)"), ["tiles.h", 1]);
  });

  await test("references tell all uses, and calls go both ways", async () => {
    const uses = await ask("Reference", at("tile[16]", 1));
    assert.strictEqual(uses.length, whole.split(/\btile\b/).length - 1);
    const [item] = await vscode.commands.executeCommand("vscode.prepareCallHierarchy", uri, at("weigh(__local", 1));
    const calls = await vscode.commands.executeCommand("vscode.provideIncomingCalls", item);
    assert.deepStrictEqual(calls.map((it) => it.from.name), ["blur"]);
  });

  await test("completion knows built-ins, locals and members", async () => {
    const labels = async (typed) => {
      const place = at("    barrier");
      await insert(place, `    ${typed}\n`);
      const found = await ask("CompletionItem", new vscode.Position(place.line, 4 + typed.length), undefined, 5);
      await restore();
      const word = /\w*$/.exec(typed)[0];
      return found.items
        .filter((it) => (it.filterText ?? it.label.label ?? it.label).startsWith(word))
        .sort((a, b) => ((a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1))
        .map((it) => it.label.label ?? it.label);
    };
    assert.ok((await labels("get_lo")).slice(0, 3).includes("get_local_id"));
    assert.ok((await labels("ti")).slice(0, 3).includes("tile"));
    assert.deepStrictEqual((await labels("place.")).slice(0, 2), ["x", "y"]);
  });

  await test("signature help marks the parameter", async () => {
    const help = await ask("SignatureHelp", at("weigh(tile", 12), "(");
    assert.match(help.signatures[help.activeSignature].label, /float weigh\(__local float \*row, int n\)/);
    assert.strictEqual(help.signatures[help.activeSignature].activeParameter ?? help.activeParameter, 1);
  });

  await test("hover says type and address space", async () => {
    const hovers = await ask("Hover", at("tile[16]", 1));
    assert.match(hovers.flatMap((it) => it.contents.map((part) => part.value ?? part)).join("\n"), /__local float tile\[16\]/);
  });

  await test("renaming changes every place, and is refused with a reason", async () => {
    const edit = await vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, at("tile[16]", 1), "patch");
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.strictEqual(document.getText(), whole.replace(/\btile\b/g, "patch"));
    await restore();
    const refused = vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, at("tile[16]", 1), "place");
    await assert.rejects(refused, /place/);
  });

  await test("semantic tokens tell address spaces and what differs between work-items", async () => {
    const legend = await vscode.commands.executeCommand("vscode.provideDocumentSemanticTokensLegend", uri);
    const tokens = await vscode.commands.executeCommand("vscode.provideDocumentSemanticTokens", uri);
    const found = new Map();
    let line = 0;
    let column = 0;
    for (let i = 0; i < tokens.data.length; i += 5) {
      const [down, right, length, , bits] = tokens.data.slice(i, i + 5);
      [line, column] = down ? [line + down, right] : [line, column + right];
      const word = document.getText(new vscode.Range(line, column, line, column + length));
      const modifiers = legend.tokenModifiers.filter((_, bit) => bits & (1 << bit));
      found.set(word, [...(found.get(word) ?? []), ...modifiers]);
    }
    for (const [word, modifier] of [["in", "global"], ["tile", "local"], ["filter", "constant"], ["blur", "kernel"], ["x", "workItemDependent"], ["n", "uniform"]]) {
      assert.ok(found.get(word)?.includes(modifier), `${word}: ${found.get(word)}`);
    }
  });

  await test("folding knows bodies and conditions", async () => {
    const folds = await ask("FoldingRange");
    assert.ok(folds.some((it) => it.start === at("#if 0").line));
    assert.ok(folds.some((it) => it.start >= at("__kernel").line && it.start <= at("__kernel").line + 2));
  });

  await test("formatting changes white space only", async () => {
    const untidy = whole.replace("    out[i] = sum;", "  out[ i ]=sum ;");
    await editor.edit((it) => it.replace(new vscode.Range(0, 0, document.lineCount, 0), untidy));
    const edits = await ask("FormatDocument", { tabSize: 4, insertSpaces: true });
    const edit = new vscode.WorkspaceEdit();
    edit.set(uri, edits);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.match(document.getText(), /out\[i\] = sum;/);
    assert.strictEqual(document.getText().replace(/\s/g, ""), whole.replace(/\s/g, ""));
    await restore();
  });

  await test("a missing ; is told in a compiler's words, and mended", async () => {
    await editor.edit((it) => it.replace(new vscode.Range(at("sum = 0.0f;", 10), at("sum = 0.0f;", 11)), ""));
    const errors = () => vscode.languages.getDiagnostics(uri).filter((it) => it.severity === vscode.DiagnosticSeverity.Error);
    const [found] = await wait(() => errors().length && errors());
    assert.match(found.message, /expected ';' at end of declaration/);
    const actions = await ask("CodeAction", found.range, "quickfix", 20);
    const mend = actions.find((it) => /Insert ';'/.test(it.title));
    assert.ok(mend, actions.map((it) => it.title).join("; "));
    assert.ok(await vscode.workspace.applyEdit(mend.edit));
    assert.strictEqual(document.getText(), whole);
    await wait(() => errors().length === 0);
  });

  await test("machine code shows beside its source, and each marks the other's lines", async () => {
    editor.selection = new vscode.Selection(at("out[i] = sum"), at("out[i] = sum"));
    await vscode.commands.executeCommand("clmap.showCompiled");
    const code = await wait(() => vscode.window.visibleTextEditors.find((it) => it.document.uri.scheme === "clmap-compiled"));
    assert.match(code.document.lineAt(0).text, /^\/\/ blur, as compiled for nvptx sm_90: .* registers/);
    assert.match(code.document.getText(), /st\.global/);
    const seen = code.visibleRanges[0];
    const stores = code.document.getText().split("\n").flatMap((it, line) => (/st\.global/.test(it) ? [line] : []));
    await wait(() => stores.some((line) => code.visibleRanges.some((it) => it.start.line <= line && line <= it.end.line)));
    assert.ok(seen, "it is in sight");
    assert.strictEqual(vscode.window.activeTextEditor.document.uri.toString(), uri.toString(), "the source keeps the cursor");
  });

  await test("host code leads to the kernel that it names", async () => {
    const settings = vscode.workspace.getConfiguration("clmap");
    await settings.update("embedded", true, vscode.ConfigurationTarget.Workspace);
    await vscode.commands.executeCommand("clmap.restart");
    const host = await vscode.workspace.openTextDocument(path.join(folder, "main.c"));
    const place = host.positionAt(host.getText().indexOf('"blur"') + 2);
    const [found] = await wait(async () => {
      const it = await vscode.commands.executeCommand("vscode.executeDefinitionProvider", host.uri, place);
      return it?.length && it;
    });
    assert.strictEqual(path.basename((found.targetUri ?? found.uri).path), "tiles.cl");
    await settings.update("embedded", undefined, vscode.ConfigurationTarget.Workspace);
  });

  await editor.document.save();
  finish();
};

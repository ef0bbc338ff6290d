// Commands of the palette. Those that need analysis are the server's; these pass on where the cursor is.
import * as vscode from "vscode";
import { CompiledCode } from "./compiled";
import type { Clmap } from "./extension";
import type { Heat } from "./heat";
import type { Panel } from "./panel";

export function registerCommands(clmap: Clmap, panel: Panel, heat: Heat): void {
  const register = (name: string, action: (...args: unknown[]) => unknown) =>
    clmap.context.subscriptions.push(vscode.commands.registerCommand(name, action));
  register("clmap.restart", () => clmap.restart());
  register("clmap.installServer", () => clmap.install());
  register("clmap.openServerSettings", () => vscode.commands.executeCommand("workbench.action.openSettings", "clmap.server"));
  register("clmap.pickDevice", () => clmap.device.pick());
  register("clmap.showLogs", () => clmap.output.show());
  register("clmap.debugInformation", () => showDebugInformation(clmap));
  register("clmap.showPanel", () => panel.show());
  const compiled = new CompiledCode(clmap);
  register("clmap.showCompiled", () => compiled.show());
  register("clmap.emulateKernel", () => atCursor(clmap, "clmap.emulate"));
  register("clmap.optimiseKernel", () => atCursor(clmap, "clmap.optimise"));
  register("clmap.measureKernel", () => atCursor(clmap, "clmap.measure"));
  register("clmap.pinLaunch", () => atCursor(clmap, "clmap.pin"));
  register("clmap.workspaceFindings", () =>
    clmap.client?.sendRequest("workspace/executeCommand", { command: "clmap.showWorkspaceFindings", arguments: [] }),
  );
  register("clmap.openReport", (uri) => openReport(clmap, typeof uri === "string" ? uri : undefined));
  register("clmap.explainRule", (code) => explainRule(clmap, typeof code === "string" ? code : undefined));
  register("clmap.calibrateDevice", () => calibrate());
  clmap.context.subscriptions.push(panel, heat, compiled);
}

async function atCursor(clmap: Clmap, command: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !clmap.client) {
    return;
  }
  const { line, character } = editor.selection.active;
  await clmap.client.sendRequest("workspace/executeCommand", {
    command,
    arguments: [editor.document.uri.toString(), { line, character }],
  });
}

async function openReport(clmap: Clmap, uri: string | undefined): Promise<void> {
  const wanted = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
  const client = clmap.client;
  if (!wanted || !client) {
    return;
  }
  const location = vscode.ProgressLocation.Window;
  const html = await vscode.window.withProgress({ location, title: "clmap: drawing the report" }, () =>
    client
      .sendRequest<string | null>("workspace/executeCommand", { command: "clmap.report", arguments: [wanted] })
      .catch((error: unknown) => void vscode.window.showErrorMessage(String(error))),
  );
  if (html) {
    const view = vscode.window.createWebviewPanel("clmap.report", "clmap report", vscode.ViewColumn.Beside, {});
    view.webview.html = html;
  }
}

async function explainRule(clmap: Clmap, code: string | undefined): Promise<void> {
  const wanted = code ?? (await vscode.window.showInputBox({ prompt: "Rule code or name, such as CM101" }));
  if (!wanted || !clmap.client) {
    return;
  }
  const text = await clmap.client.sendRequest<string | null>("workspace/executeCommand", {
    command: "clmap.explain",
    arguments: [wanted],
  });
  const content = text ?? `There is no rule ${wanted}.`;
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await vscode.commands.executeCommand("markdown.showPreview", document.uri);
}

async function showDebugInformation(clmap: Clmap): Promise<void> {
  const server = await clmap.client
    ?.sendRequest<string | null>("workspace/executeCommand", { command: "clmap.debug", arguments: [] })
    .catch((error: unknown) => String(error));
  const content = `${clmap.debugInformation()}\n${server ?? "the server does not answer"}\n`;
  const document = await vscode.workspace.openTextDocument({ language: "plaintext", content });
  await vscode.window.showTextDocument(document);
}

function calibrate(): void {
  const terminal = vscode.window.createTerminal("Calibrate OpenCL device");
  terminal.show();
  terminal.sendText("clmap-lsp calibrate", false); // The user presses Enter: a calibration takes minutes.
}

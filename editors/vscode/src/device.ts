// The device model in the status bar: the fact that most changes every figure, and the way to change it.
import * as vscode from "vscode";
import type { Clmap } from "./extension";

interface Devices {
  current: string | null;
  models: { id: string; name: string }[];
}

export class DevicePick implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("clmap.device", vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly clmap: Clmap) {
    this.item.name = "OpenCL device model";
    this.item.command = "clmap.pickDevice";
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(() => void this.refresh()),
      vscode.workspace.onDidSaveTextDocument((it) => it.fileName.endsWith("clmap.toml") && void this.refresh()),
      vscode.workspace.onDidChangeConfiguration((it) => it.affectsConfiguration("clmap.device") && void this.refresh()),
    ];
  }

  /** Show the device of the active kernel file; nothing elsewhere. */
  async refresh(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== "opencl") {
      this.item.hide();
      return;
    }
    const devices = await this.ask(editor.document.uri);
    if (!devices?.current || vscode.window.activeTextEditor !== editor) {
      return;
    }
    const named = devices.models.find((it) => it.id === devices.current)?.name ?? devices.current;
    this.item.text = `$(circuit-board) ${devices.current}`;
    this.item.tooltip = `Memory figures hold for: ${named}. Click to choose another device model.`;
    this.item.show();
  }

  async pick(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const devices = await this.ask(uri);
    if (!devices) {
      return;
    }
    const items = devices.models.map((it) => ({
      label: it.id,
      description: it.id === devices.current ? `${it.name} (now)` : it.name,
    }));
    const title = "Device model that figures hold for";
    const choice = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
    if (choice) {
      await this.set(choice.label, uri);
    }
  }

  dispose(): void {
    this.item.dispose();
    this.subscriptions.forEach((it) => void it.dispose());
  }

  private async set(id: string, uri: vscode.Uri | undefined): Promise<void> {
    const settings = vscode.workspace.getConfiguration("clmap", uri);
    const target = vscode.workspace.workspaceFolders ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
    await settings.update("device", id, target);
    const now = uri ? await this.ask(uri) : undefined;
    if (now?.current && now.current !== id) {
      const choice = await vscode.window.showInformationMessage(
        `clmap.toml says ${now.current}, and wins over this setting.`,
        "Let Settings Win",
      );
      if (choice) {
        await settings.update("configurationPreference", "editorFirst", target);
      }
    }
    await this.refresh();
  }

  private async ask(uri: vscode.Uri | undefined): Promise<Devices | undefined> {
    return this.clmap.client
      ?.sendRequest<Devices>("workspace/executeCommand", { command: "clmap.devices", arguments: [uri?.toString() ?? ""] })
      .catch(() => undefined);
  }
}

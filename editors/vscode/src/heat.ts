// Lines coloured by their share of the kernel's memory traffic.
import * as vscode from "vscode";
import type { Clmap } from "./extension";
import { type KernelView, kernelViewRequest } from "./protocol";

const STEPS = 4;

export class Heat implements vscode.Disposable {
  private readonly kinds: vscode.TextEditorDecorationType[] = [];
  private readonly subscriptions: vscode.Disposable[] = [];

  constructor(private readonly clmap: Clmap) {
    for (let step = 1; step <= STEPS; step++) {
      this.kinds.push(
        vscode.window.createTextEditorDecorationType({
          isWholeLine: true,
          overviewRulerColor: `rgba(220, 90, 30, ${step / STEPS})`,
          backgroundColor: `rgba(220, 90, 30, ${(0.22 * step) / STEPS})`,
        }),
      );
    }
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
      vscode.languages.onDidChangeDiagnostics(() => this.refresh()),
      vscode.workspace.onDidChangeConfiguration(() => this.refresh()),
      vscode.window.onDidChangeTextEditorSelection(() => this.refresh()),
    );
  }

  async refresh(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.languageId !== "opencl") {
      return;
    }
    const on = vscode.workspace.getConfiguration("clmap").get<boolean>("heat", false);
    const view = on ? await this.view(editor) : null;
    const lines = view ? sharesByLine(view) : new Map<number, number>();
    this.kinds.forEach((kind, step) => {
      const ranges = [...lines]
        .filter(([, share]) => Math.min(STEPS - 1, Math.floor(share * STEPS)) === step)
        .map(([line]) => new vscode.Range(line, 0, line, 0));
      editor.setDecorations(kind, ranges);
    });
  }

  private async view(editor: vscode.TextEditor): Promise<KernelView | null> {
    const { line, character } = editor.selection.active;
    const query = { textDocument: { uri: editor.document.uri.toString() }, position: { line, character } };
    return this.clmap.client?.sendRequest(kernelViewRequest, query).catch(() => null) ?? null;
  }

  dispose(): void {
    vscode.Disposable.from(...this.kinds, ...this.subscriptions).dispose();
  }
}

function sharesByLine(view: KernelView): Map<number, number> {
  const lines = new Map<number, number>();
  for (const access of view.accesses) {
    const line = access.range.start.line;
    lines.set(line, (lines.get(line) ?? 0) + access.share);
  }
  return lines;
}

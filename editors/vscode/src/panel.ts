// The "Memory access" panel: a picture of the kernel at the cursor. Data come from clmap/kernelView.
import * as vscode from "vscode";
import type { Clmap } from "./extension";
import { Fixes, SCHEME as FIX } from "./fixes";
import { type KernelView, kernelViewRequest } from "./protocol";

/** What the page asks for: a line to show, an access and a turn to draw, a fix to look at or to take. */
interface Wish {
  reveal?: number;
  draw?: { access: number; turn: number };
  show?: number;
  take?: number;
}

export class Panel implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private readonly subscriptions: vscode.Disposable[] = [];
  private latest = 0;
  private drawn: { access: number; turn: number } | undefined;
  private kernel: KernelView | null = null;
  private readonly fixes = new Fixes();

  constructor(private readonly clmap: Clmap) {
    this.subscriptions.push(
      vscode.window.onDidChangeTextEditorSelection(() => this.refresh()),
      vscode.languages.onDidChangeDiagnostics(() => this.refresh()),
    );
  }

  async show(): Promise<void> {
    if (!this.view) {
      const media = vscode.Uri.joinPath(this.clmap.context.extensionUri, "media");
      this.view = vscode.window.createWebviewPanel(
        "clmap.panel",
        "Memory access",
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, localResourceRoots: [media], retainContextWhenHidden: true },
      );
      this.view.webview.html = page(this.view.webview, media);
      this.view.onDidDispose(() => {
        this.view = undefined;
      });
      this.view.webview.onDidReceiveMessage((wish: Wish) => this.grant(wish));
    }
    this.view.reveal(undefined, true);
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    if (vscode.window.activeTextEditor?.document.uri.scheme === FIX) {
      return; // The change of a fix is looked at: its kernel stays.
    }
    const editor = kernelEditor();
    if (!this.view || !this.clmap.client || !editor) {
      return;
    }
    const turn = ++this.latest;
    const { line, character } = editor.selection.active;
    const textDocument = { uri: editor.document.uri.toString() };
    const query = { textDocument, position: { line, character }, ...this.drawn };
    const kernel = await this.clmap.client.sendRequest(kernelViewRequest, query).catch(() => null);
    if (turn === this.latest) {
      this.kernel = kernel;
      await this.view?.webview.postMessage({ kernel, cursorLine: line });
    }
  }

  private async grant(wish: Wish): Promise<void> {
    if (wish.draw) {
      this.drawn = wish.draw;
      await this.refresh();
    }
    const shown = this.kernel?.fixes[wish.show ?? -1];
    const taken = this.kernel?.fixes[wish.take ?? -1];
    await (shown && this.fixes.show(shown));
    await (taken && this.fixes.take(taken));
    this.reveal(wish.reveal);
  }

  private reveal(line: number | undefined): void {
    const editor = kernelEditor();
    if (editor && line !== undefined) {
      const place = new vscode.Position(line, 0);
      editor.selection = new vscode.Selection(place, place);
      editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, this.fixes).dispose();
    this.view?.dispose();
  }
}

/** The editor that the panel speaks of: the active one if it shows kernels, else one that is in sight. */
function kernelEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  const editors = [...(active ? [active] : []), ...vscode.window.visibleTextEditors];
  return editors.find(({ document }) => document.languageId === "opencl" && ["file", "untitled"].includes(document.uri.scheme));
}

function page(webview: vscode.Webview, media: vscode.Uri): string {
  const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}; img-src data:`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri("panel.css")}">
<title>Memory access</title>
</head>
<body>
<main id="panel" aria-live="polite"><p>Put the cursor in a kernel.</p></main>
<script src="${uri("panel.js")}"></script>
</body>
</html>`;
}

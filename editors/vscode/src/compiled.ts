// "As compiled": a kernel's machine code beside its source; the lines of one that belong to the other's cursor light up.
import * as vscode from "vscode";
import type { Clmap } from "./extension";
import { asCompiledRequest, type CompiledView } from "./protocol";

export const SCHEME = "clmap-compiled";

/** One kernel that is shown: where its source is, and which line each instruction is of. */
interface Shown {
  source: vscode.Uri;
  version: number;
  view: CompiledView;
}

export class CompiledCode implements vscode.Disposable, vscode.TextDocumentContentProvider {
  private readonly shown = new Map<string, Shown>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.wordHighlightForeground"),
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly clmap: Clmap) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.workspace.onDidSaveTextDocument((document) => this.renew(document)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.shown.delete(uri.toString())),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.view.lines.join("\n") ?? "";
  }

  /** Show the kernel at the cursor beside its source. */
  async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) {
      return;
    }
    const view = await this.ask(editor.document, editor.selection.active);
    if (!view || view.why !== null) {
      const why = view ? `clmap: ${view.name} is not compiled: ${view.why}` : "clmap: put the cursor in a kernel";
      void vscode.window.showInformationMessage(why);
      return;
    }
    const { uri: source, version } = editor.document;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${view.name}.s`, query: source.toString() });
    this.shown.set(uri.toString(), { source, version, view });
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
    this.follow(editor);
  }

  private async ask(document: vscode.TextDocument, place: vscode.Position): Promise<CompiledView | null> {
    const textDocument = { uri: document.uri.toString() };
    const position = { line: place.line, character: place.character };
    return (await this.clmap.client?.sendRequest(asCompiledRequest, { textDocument, position }).catch(() => null)) ?? null;
  }

  /** Compile anew what is shown of a document that was saved. */
  private async renew(document: vscode.TextDocument): Promise<void> {
    for (const [key, { source, view }] of this.shown) {
      if (source.toString() !== document.uri.toString()) {
        continue;
      }
      const rows = view.rows.filter((row): row is number => row !== null);
      const place = new vscode.Position(Math.min(Math.max(0, ...rows.slice(0, 1)), document.lineCount - 1), 0);
      const next = await this.ask(document, place);
      if (next && next.why === null && next.name === view.name) {
        this.shown.set(key, { source, version: document.version, view: next });
        this.changed.fire(vscode.Uri.parse(key));
      }
    }
  }

  /** Mark in the other editor what belongs to the cursor of this one. */
  private follow(editor: vscode.TextEditor): void {
    const line = editor.selection.active.line;
    const own = this.shown.get(editor.document.uri.toString());
    if (own) {
      const row = own.view.rows[line] ?? null;
      for (const other of editorsOf(own.source)) {
        const isSame = other.document.version === own.version;
        this.light(other, row === null || !isSame ? [] : [row]);
      }
      return;
    }
    for (const [key, { source, version, view }] of this.shown) {
      if (source.toString() !== editor.document.uri.toString()) {
        continue;
      }
      const isSame = editor.document.version === version;
      const lines = isSame ? view.rows.flatMap((row, at) => (row === line ? [at] : [])) : [];
      for (const other of editorsOf(vscode.Uri.parse(key))) {
        this.light(other, lines);
      }
      this.light(editor, []);
    }
  }

  private light(editor: vscode.TextEditor, lines: number[]): void {
    const ranges = lines.map((line) => new vscode.Range(line, 0, line, 0));
    editor.setDecorations(this.mark, ranges);
    const code = ranges.at(-1);
    if (code) {
      editor.revealRange(code, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions, this.mark, this.changed).dispose();
  }
}

function editorsOf(uri: vscode.Uri): vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === uri.toString());
}

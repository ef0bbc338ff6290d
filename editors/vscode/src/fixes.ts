// Verified fixes from the panel: their change beside the text as it is, and taking them.
import * as vscode from "vscode";
import type { FixView, TextChange } from "./protocol";

export const SCHEME = "clmap-fix";

export class Fixes implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Open each file that a fix changes beside what it would become. */
  async show(fix: FixView): Promise<void> {
    for (const [uri, changes] of byFile(fix)) {
      const document = await vscode.workspace.openTextDocument(uri);
      const after = uri.with({ scheme: SCHEME, query: String(++this.count) });
      this.texts.set(after.toString(), changed(document, changes));
      await vscode.commands.executeCommand("vscode.diff", uri, after, fix.title, {
        preview: true,
        viewColumn: vscode.ViewColumn.One,
      });
    }
  }

  async take(fix: FixView): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    for (const [uri, changes] of byFile(fix)) {
      for (const { range, newText } of changes) {
        edit.replace(uri, asRange(range), newText);
      }
    }
    const done = await vscode.workspace.applyEdit(edit);
    if (done && fix.hostChange) {
      void vscode.window.showInformationMessage(`The host must change too: ${fix.hostChange}.`);
    }
  }

  dispose(): void {
    this.registration.dispose();
  }
}

function byFile(fix: FixView): [vscode.Uri, TextChange[]][] {
  const names = [...new Set(fix.edits.map((it) => it.uri))];
  return names.map((name) => [vscode.Uri.parse(name), fix.edits.filter((it) => it.uri === name)]);
}

function changed(document: vscode.TextDocument, changes: TextChange[]): string {
  const spans = changes.map(({ range, newText }) => {
    const { start, end } = asRange(range);
    return { start: document.offsetAt(start), end: document.offsetAt(end), newText };
  });
  let text = document.getText();
  // From the end; of those that begin at one place the last first, so that an insertion stays before a change.
  for (const { start, end, newText } of spans.sort((one, other) => one.start - other.start).reverse()) {
    text = text.slice(0, start) + newText + text.slice(end);
  }
  return text;
}

function asRange({ start, end }: TextChange["range"]): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

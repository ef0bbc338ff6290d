// Another OpenCL extension beside this one: what both of their servers answer shows twice.
import * as vscode from "vscode";

const OTHER = "galarius.vscode-opencl";
const ASKED = "clmap.askedAboutOtherServer";

let isAsking = false;

/** Offer once to turn the other extension's server off, as its completion and errors are also ours. */
export async function offerToAnswerAlone(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration("OpenCL.server");
  const known = settings.inspect<boolean>("enable");
  if (!vscode.extensions.getExtension(OTHER) || known?.defaultValue === undefined) {
    return; // Not installed, disabled, or a version without a setting for it.
  }
  if (isAsking || !settings.get<boolean>("enable", true) || context.globalState.get<boolean>(ASKED, false)) {
    return;
  }
  isAsking = true; // A restart of our server does not ask beside it.
  const off = "Turn Its Server Off";
  const keep = "Keep Both";
  const choice = await vscode.window.showInformationMessage(
    "clmap: the language server of the extension “OpenCL” completes and reports errors too, so that both show twice. " +
      "Its snippets, tasks and list of devices stay.",
    off,
    keep,
  );
  if (choice === undefined) {
    return; // Closed without an answer: asked again with the next window.
  }
  await context.globalState.update(ASKED, true);
  if (choice === off) {
    await settings.update("enable", false, vscode.ConfigurationTarget.Global);
    const reload = "Reload Window";
    if (await vscode.window.showInformationMessage("clmap: it is off once the window is loaded anew.", reload)) {
      await vscode.commands.executeCommand("workbench.action.reloadWindow");
    }
  }
}

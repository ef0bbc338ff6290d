// The ways out of having no server: install the extension's own, name one, or wait until one appears.
import * as vscode from "vscode";
import { fromPath } from "./discovery";
import { InstallError, type Managed } from "./managed";

const LOOK_EVERY_MS = 3_000;
const LOOK_FOR_MS = 15 * 60_000;

export async function offerToInstall(why: string): Promise<void> {
  const choice = await vscode.window.showWarningMessage(why, "Install Server", "Set Path…");
  if (choice === "Install Server") {
    await vscode.commands.executeCommand("clmap.installServer");
  } else if (choice === "Set Path…") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "clmap.server");
  }
}

/** Install with progress and a way to cancel; returns whether there is a server now. */
export async function install(managed: Managed, output: vscode.LogOutputChannel): Promise<boolean> {
  const location = vscode.ProgressLocation.Notification;
  const title = "clmap: installing the server";
  try {
    await vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) =>
      managed.install(progress, token, (text) => output.info(text.trim())),
    );
    return true;
  } catch (error) {
    await explain(error, output);
    return false;
  }
}

async function explain(error: unknown, output: vscode.LogOutputChannel): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  output.error(message);
  if (message === "cancelled") {
    return;
  }
  const page = error instanceof InstallError ? error.page : undefined;
  const buttons = [...(page ? ["Get Python"] : []), "Try Again", "Show Logs", "Set Path…"];
  const choice = await vscode.window.showErrorMessage(`clmap: the server was not installed: ${message}`, ...buttons);
  if (choice === "Get Python" && page) {
    await vscode.env.openExternal(vscode.Uri.parse(page));
  } else if (choice === "Try Again") {
    await vscode.commands.executeCommand("clmap.installServer");
  } else if (choice === "Show Logs") {
    output.show();
  } else if (choice === "Set Path…") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "clmap.server");
  }
}

/** Call back once a server can be found on PATH, as after an installation in a terminal; for a quarter of an hour. */
export function whenOneAppears(found: () => void): vscode.Disposable {
  const until = Date.now() + LOOK_FOR_MS;
  const timer = setInterval(() => {
    if (fromPath() !== undefined) {
      clearInterval(timer);
      found();
    } else if (Date.now() > until) {
      clearInterval(timer);
    }
  }, LOOK_EVERY_MS);
  return { dispose: () => clearInterval(timer) };
}

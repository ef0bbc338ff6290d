// Where the server is: the setting, then the selected Python interpreter, then PATH and ~/.local/bin, then an offer to install.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

// In double quotes, which every shell takes: zsh would expand the brackets.
const PACKAGE = '"clmap-lsp[emulate]"';

const run = promisify(execFile);

export interface ServerCommand {
  command: string;
  args: string[];
  origin: string;
}

export async function findServer(): Promise<ServerCommand | undefined> {
  return (await fromSettings()) ?? (await fromInterpreter()) ?? fromPath();
}

async function fromSettings(): Promise<ServerCommand | undefined> {
  const settings = vscode.workspace.getConfiguration("clmap");
  const path = settings.get<string>("server.path", "");
  if (path) {
    return { command: path, args: [], origin: "setting clmap.server.path" };
  }
  const interpreter = settings.get<string>("server.interpreter", "");
  return interpreter
    ? { command: interpreter, args: ["-m", "clmap_lsp"], origin: "setting clmap.server.interpreter" }
    : undefined;
}

/** The Python extension is asked if it is there; it is never required. */
export async function selectedInterpreter(): Promise<string | undefined> {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (!python || !vscode.workspace.isTrusted) {
    return undefined;
  }
  const api = python.isActive ? python.exports : await python.activate();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const environment = api?.environments?.getActiveEnvironmentPath?.(folder);
  return typeof environment?.path === "string" ? environment.path : undefined;
}

async function fromInterpreter(): Promise<ServerCommand | undefined> {
  const interpreter = await selectedInterpreter();
  if (!interpreter || !(await canImport(interpreter))) {
    return undefined;
  }
  return { command: interpreter, args: ["-m", "clmap_lsp"], origin: `Python interpreter ${interpreter}` };
}

async function canImport(interpreter: string): Promise<boolean> {
  try {
    await run(interpreter, ["-c", "import clmap_lsp"], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

function fromPath(): ServerCommand | undefined {
  const names = process.platform === "win32" ? ["clmap-lsp.exe", "clmap-lsp.cmd"] : ["clmap-lsp"];
  const folders = (process.env["PATH"] ?? "").split(process.platform === "win32" ? ";" : ":");
  // Where uv, pipx and pip put programs; desktops often start VS Code without it on PATH.
  const own = join(homedir(), ".local", "bin");
  for (const folder of [...folders, own]) {
    for (const name of names) {
      const path = join(folder, name);
      if (folder && existsSync(path)) {
        return { command: path, args: [], origin: folders.includes(folder) ? "PATH" : own };
      }
    }
  }
  return undefined;
}

/** Offer to install the server in a terminal, where the user sees what happens. */
export async function offerToInstall(): Promise<void> {
  const choice = await vscode.window.showWarningMessage(
    "clmap-lsp is not installed: it is neither in the selected Python interpreter, nor on PATH, nor in ~/.local/bin.",
    "Install with uv",
    "Install with pip",
    "Set Path…",
  );
  if (choice === undefined) {
    return;
  }
  if (choice === "Set Path…") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "clmap.server.path");
    return;
  }
  const interpreter = (await selectedInterpreter()) ?? "python3";
  const terminal = vscode.window.createTerminal("Install clmap-lsp");
  terminal.show();
  terminal.sendText(
    choice === "Install with uv" ? `uv tool install ${PACKAGE}` : `"${interpreter}" -m pip install ${PACKAGE}`,
  );
}

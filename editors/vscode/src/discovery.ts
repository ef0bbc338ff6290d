// Where the server is: the setting, the selected Python interpreter, the extension's own, PATH and ~/.local/bin.
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import * as vscode from "vscode";
import { findProgram, type Managed } from "./managed";
import { execute } from "./processes";

export interface ServerCommand {
  command: string;
  args: string[];
  origin: string;
}

/** A setting that names something unusable. */
export class SettingError extends Error {
  constructor(
    readonly setting: string,
    why: string,
  ) {
    super(`${setting}: ${why}`);
  }
}

// -P: without it Python would import from the folder that it is started in before its own packages.
const MODULE = ["-P", "-m", "clmap_lsp"];

/** Raises SettingError: what a user has set is never silently replaced by something else. */
export async function findServer(managed: Managed): Promise<ServerCommand | undefined> {
  return fromSettings() ?? (await fromInterpreter()) ?? fromManaged(managed) ?? fromPath();
}

function fromSettings(): ServerCommand | undefined {
  const path = fromSetting("clmap.server.path");
  if (path) {
    return { command: path, args: [], origin: "setting clmap.server.path" };
  }
  const interpreter = fromSetting("clmap.server.interpreter");
  return interpreter ? { command: interpreter, args: MODULE, origin: "setting clmap.server.interpreter" } : undefined;
}

function fromSetting(name: string): string | undefined {
  const path = vscode.workspace.getConfiguration().get<string>(name, "");
  if (!path) {
    return undefined;
  }
  if (!isAbsolute(path)) {
    throw new SettingError(name, `${path} is no absolute path`);
  }
  if (!existsSync(path)) {
    throw new SettingError(name, `there is no file ${path}`);
  }
  return path;
}

/** The Python extension is asked if it is there; it is never required. */
async function selectedInterpreter(): Promise<string | undefined> {
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
  if (!interpreter || (await execute(interpreter, ["-P", "-c", "import clmap_lsp"], { timeoutMs: 10_000 })).code !== 0) {
    return undefined;
  }
  return { command: interpreter, args: MODULE, origin: `Python interpreter ${interpreter}` };
}

function fromManaged(managed: Managed): ServerCommand | undefined {
  const interpreter = managed.interpreter;
  return interpreter ? { command: interpreter, args: MODULE, origin: "the extension's own environment" } : undefined;
}

/** Where uv, pipx and pip put programs is searched too: desktops often start VS Code without it on PATH. */
export function fromPath(): ServerCommand | undefined {
  const path = findProgram("clmap-lsp");
  return path ? { command: path, args: [], origin: path } : undefined;
}

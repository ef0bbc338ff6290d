// The server that the extension brings: an environment of its own under the extension's storage, one for each
// version, so that extension and server always fit and nothing of the user's Python is touched.
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { execute, type Outcome } from "./processes";

const WINDOWS = process.platform === "win32";
const LEAST_PYTHON = [3, 11] as const;
const GET_PYTHON = "https://www.python.org/downloads/";

/** Why an installation failed, and what mends it. */
export class InstallError extends Error {
  constructor(
    message: string,
    readonly page: string | undefined = undefined,
  ) {
    super(message);
  }
}

export class Managed {
  private readonly root: string;
  private readonly version: string;

  constructor(context: vscode.ExtensionContext) {
    this.root = join(context.globalStorageUri.fsPath, "server");
    this.version = String(context.extension.packageJSON["version"]);
  }

  /** The Python of the installed environment, if its installation was finished. */
  get interpreter(): string | undefined {
    return existsSync(join(this.folder, "ready")) ? this.python(this.folder) : undefined;
  }

  /** Whether another version of the extension has left its server: then the user wanted a managed one. */
  async hadEarlier(): Promise<boolean> {
    const found = await readdir(this.root).catch(() => []);
    return found.some((it) => it !== this.version);
  }

  /** Install the server that fits this extension. Raises InstallError; a half-made folder is removed. */
  async install(
    progress: vscode.Progress<{ message?: string }>,
    token: vscode.CancellationToken,
    log: (text: string) => void,
  ): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.root, { recursive: true });
    try {
      const uv = findProgram("uv");
      await (uv ? this.withUv(uv, progress, token, log) : this.withPip(progress, token, log));
      if (token.isCancellationRequested) {
        throw new InstallError("cancelled");
      }
      await this.prove();
      await writeFile(join(this.folder, "ready"), this.version);
    } catch (error) {
      await rm(this.folder, { recursive: true, force: true });
      throw error;
    }
    await this.removeOthers();
  }

  private get folder(): string {
    return join(this.root, this.version);
  }

  private get requirement(): string {
    const own = vscode.workspace.getConfiguration("clmap").get<string>("server.package", "");
    return own || `clmap-lsp[emulate]==${this.version}`;
  }

  private python(folder: string): string {
    return WINDOWS ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
  }

  private async withUv(
    uv: string,
    progress: vscode.Progress<{ message?: string }>,
    token: vscode.CancellationToken,
    log: (text: string) => void,
  ): Promise<void> {
    const options = { token, onOutput: log };
    progress.report({ message: "making an environment with uv" });
    const wanted = `>=${LEAST_PYTHON.join(".")}`;
    check(await execute(uv, ["venv", "--python", wanted, this.folder], options), "uv venv", token);
    progress.report({ message: "installing clmap-lsp" });
    const install = ["pip", "install", "--python", this.python(this.folder), this.requirement];
    check(await execute(uv, install, options), "uv pip install", token);
  }

  private async withPip(
    progress: vscode.Progress<{ message?: string }>,
    token: vscode.CancellationToken,
    log: (text: string) => void,
  ): Promise<void> {
    const options = { token, onOutput: log };
    progress.report({ message: "looking for Python" });
    const base = await findPython();
    progress.report({ message: "making an environment" });
    check(await execute(base, ["-I", "-m", "venv", this.folder], options), "python -m venv", token);
    progress.report({ message: "installing clmap-lsp" });
    const install = ["-P", "-m", "pip", "install", "--disable-pip-version-check", this.requirement];
    check(await execute(this.python(this.folder), install, options), "pip install", token);
  }

  private async prove(): Promise<void> {
    const outcome = await execute(this.python(this.folder), ["-P", "-m", "clmap_lsp", "--version"]);
    if (outcome.code !== 0) {
      throw new InstallError(`the installed server does not start: ${lastLine(outcome.output)}`);
    }
  }

  private async removeOthers(): Promise<void> {
    for (const it of await readdir(this.root)) {
      if (it !== this.version) {
        await rm(join(this.root, it), { recursive: true, force: true });
      }
    }
  }
}

/** Where a program is: absolute entries of PATH only, since a relative one is the workspace's. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((it) => isAbsolute(it));
  const own = [join(homedir(), ".local", "bin"), join(homedir(), ".cargo", "bin")];
  for (const folder of [...folders, ...own]) {
    const path = join(folder, WINDOWS ? `${name}.exe` : name);
    if (existsSync(path)) {
      return path;
    }
  }
  return undefined;
}

async function findPython(): Promise<string> {
  const seen: string[] = [];
  for (const name of ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"]) {
    const path = findProgram(name);
    if (path === undefined || seen.includes(path)) {
      continue;
    }
    seen.push(path);
    if (await isRecent(path)) {
      return path;
    }
  }
  const least = LEAST_PYTHON.join(".");
  const why = seen.length ? `the Python found (${seen[seen.length - 1]}) is older than ${least} or cannot make environments` : "no Python was found";
  throw new InstallError(`${why}; install Python ${least} or later, or uv`, GET_PYTHON);
}

async function isRecent(python: string): Promise<boolean> {
  const least = `(${LEAST_PYTHON.join(", ")})`;
  // -I: what other users put into the folder for temporary files is no module.
  const code = `import ensurepip, sys, venv; sys.exit(0 if sys.version_info[:2] >= ${least} else 3)`;
  return (await execute(python, ["-I", "-c", code], { timeoutMs: 10_000 })).code === 0;
}

function check(outcome: Outcome, what: string, token: vscode.CancellationToken): void {
  if (token.isCancellationRequested) {
    throw new InstallError("cancelled");
  }
  if (outcome.code !== 0) {
    throw new InstallError(`${what}: ${lastLine(outcome.output)}`);
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").pop() ?? "no output";
}

// Running programs: never with the workspace as current folder, never through a shell.
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import type * as vscode from "vscode";

export interface Outcome {
  code: number;
  output: string;
}

/** Run a program to its end; a program that cannot be started has code -1 and the reason as its output. */
export function execute(
  program: string,
  args: readonly string[],
  options: { timeoutMs?: number; token?: vscode.CancellationToken; onOutput?: (text: string) => void } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const settings = { cwd: tmpdir(), timeout: options.timeoutMs ?? 0, maxBuffer: 16 << 20, windowsHide: true };
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      cancelled?.dispose();
      const output = `${stdout}${stderr}`.trim();
      const code = error ? (typeof error.code === "number" ? error.code : -1) : 0;
      resolve({ code, output: output || (error ? error.message : "") });
    });
    const cancelled = options.token?.onCancellationRequested(() => child.kill());
    child.stdout?.on("data", (data: unknown) => options.onOutput?.(String(data)));
    child.stderr?.on("data", (data: unknown) => options.onOutput?.(String(data)));
  });
}

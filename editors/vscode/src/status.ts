// One status item: what the server is doing, and the way to its logs.
import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";
import type { WorkerState } from "./protocol";

export class Status implements vscode.Disposable {
  private readonly item: vscode.LanguageStatusItem;

  constructor(selector: vscode.DocumentSelector) {
    this.item = vscode.languages.createLanguageStatusItem("clmap.status", selector);
    this.item.name = "clmap";
    this.item.command = { command: "clmap.showLogs", title: "Show Logs" };
    this.stopped("not started");
  }

  show(state: State, origin: string): void {
    this.item.busy = state === State.Starting;
    if (state === State.Stopped) {
      this.stopped("stopped");
      return;
    }
    this.item.severity = vscode.LanguageStatusSeverity.Information;
    this.item.text = state === State.Running ? "clmap" : "clmap: starting";
    this.item.detail = `server from ${origin}`;
    this.item.command = { command: "clmap.showLogs", title: "Show Logs" };
  }

  /** What the process is doing in which kernels run. */
  worker(state: WorkerState): void {
    const failing = state === "backing off";
    this.item.busy = state === "running";
    this.item.text = { idle: "clmap", running: "clmap: emulating", "backing off": "clmap: a kernel keeps crashing" }[state];
    this.item.severity = failing ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
  }

  installing(): void {
    this.item.busy = true;
    this.item.severity = vscode.LanguageStatusSeverity.Information;
    this.item.text = "clmap: installing the server";
    this.item.detail = "";
  }

  /** `command` is the button that mends it. */
  stopped(why: string, command = "clmap.showLogs", title = "Show Logs"): void {
    this.item.command = { command, title };
    this.item.busy = false;
    this.item.severity = vscode.LanguageStatusSeverity.Error;
    this.item.text = "clmap";
    this.item.detail = why;
  }

  dispose(): void {
    this.item.dispose();
  }
}

// Wiring: find the server, start it, register commands. Features live in the server.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, State, type ServerOptions } from "vscode-languageclient/node";
import { registerCommands } from "./commands";
import { findServer, offerToInstall } from "./discovery";
import { Heat } from "./heat";
import { Panel } from "./panel";
import { statusNotification } from "./protocol";
import { Status } from "./status";

const SELECTOR = [
  { language: "opencl", scheme: "file" },
  { language: "opencl", scheme: "untitled" },
  { scheme: "file", pattern: "**/clmap.toml" },
];
const EMBEDDING = ["c", "cpp", "python"].map((language) => ({ language, scheme: "file" }));

export class Clmap {
  client: LanguageClient | undefined;
  readonly output: vscode.LogOutputChannel;
  readonly status: Status;
  private origin = "";

  constructor(readonly context: vscode.ExtensionContext) {
    this.output = vscode.window.createOutputChannel("clmap", { log: true });
    this.status = new Status({ language: "opencl" });
    context.subscriptions.push(this.output, this.status);
  }

  async start(): Promise<void> {
    const server = await findServer();
    if (!server) {
      this.status.stopped("clmap-lsp is not installed");
      void offerToInstall();
      return;
    }
    this.origin = server.origin;
    const level = vscode.workspace.getConfiguration("clmap").get<string>("logLevel", "warning");
    const executable = { command: server.command, args: [...server.args, "--stdio", "--log-level", level] };
    const serverOptions: ServerOptions = { run: executable, debug: executable };
    const client = new LanguageClient("clmap", "clmap", serverOptions, this.clientOptions());
    this.client = client;
    client.onDidChangeState((change) => this.status.show(change.newState, this.origin));
    client.onNotification(statusNotification, ({ worker }) => this.status.worker(worker));
    try {
      await client.start();
    } catch (error) {
      this.status.stopped(`${server.command}: ${String(error)}`);
      this.output.error(String(error));
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client && client.state !== State.Stopped) {
      await client.stop().catch((error: unknown) => this.output.warn(String(error)));
    }
    await client?.dispose();
  }

  debugInformation(): string {
    const lines = [
      `extension ${String(this.context.extension.packageJSON["version"])}, VS Code ${vscode.version}`,
      `server from ${this.origin || "nowhere"}, ${this.client ? State[this.client.state] : "not running"}`,
      `workspace trusted: ${vscode.workspace.isTrusted}`,
    ];
    return lines.join("\n");
  }

  private clientOptions(): LanguageClientOptions {
    const settings = vscode.workspace.getConfiguration("clmap");
    return {
      documentSelector: settings.get<boolean>("embedded", false) ? [...SELECTOR, ...EMBEDDING] : SELECTOR,
      outputChannel: this.output,
      initializationOptions: {
        trusted: vscode.workspace.isTrusted,
        settings,
        status: true,
        commands: ["clmap.showPanel", "clmap.explainRule", "clmap.openReport"],
      },
      synchronize: {
        configurationSection: "clmap",
        fileEvents: vscode.workspace.createFileSystemWatcher("**/{clmap.toml,*.cl,*.clh,*.h,*.sim}"),
      },
      markdown: { supportHtml: true },
    };
  }
}

let clmap: Clmap | undefined;

/** What other extensions (and the tests) can ask of this one. */
export interface Api {
  activationMs: number;
}

export function activate(context: vscode.ExtensionContext): Api {
  const started = performance.now();
  clmap = new Clmap(context);
  registerCommands(clmap, new Panel(clmap), new Heat(clmap));
  context.subscriptions.push(
    vscode.workspace.onDidGrantWorkspaceTrust(() => clmap?.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      const restarts = ["clmap.server", "clmap.logLevel", "clmap.embedded"];
      if (restarts.some((section) => change.affectsConfiguration(section))) {
        void clmap?.restart();
      }
    }),
  );
  void clmap.start(); // Not awaited: activation stays short.
  return { activationMs: performance.now() - started };
}

export async function deactivate(): Promise<void> {
  await clmap?.stop();
}

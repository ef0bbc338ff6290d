// Wiring: find the server, start it, register commands. Features live in the server.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, State, type ServerOptions } from "vscode-languageclient/node";
import { offerToAnswerAlone } from "./beside";
import { registerCommands } from "./commands";
import { DevicePick } from "./device";
import { findServer, type ServerCommand, SettingError } from "./discovery";
import { Heat } from "./heat";
import { install, offerToInstall, whenOneAppears } from "./install";
import { Managed } from "./managed";
import { Panel } from "./panel";
import { execute } from "./processes";
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
  readonly managed: Managed;
  readonly device: DevicePick;
  private origin = "";
  private waiting: vscode.Disposable | undefined;
  private failures = 0;
  private restarted: Promise<void> = Promise.resolve();

  constructor(readonly context: vscode.ExtensionContext) {
    this.managed = new Managed(context);
    this.output = vscode.window.createOutputChannel("clmap", { log: true });
    this.status = new Status({ language: "opencl" });
    this.device = new DevicePick(this);
    context.subscriptions.push(this.output, this.status, this.device);
  }

  async start(): Promise<void> {
    const server = await this.find();
    if (server) {
      await this.launch(server);
    }
  }

  /** Install the extension's own server, then start it. */
  async install(): Promise<void> {
    this.status.installing();
    if (await install(this.managed, this.output)) {
      await this.restart();
    } else if (!this.client) {
      this.status.stopped("the server is not installed", "clmap.installServer", "Install Server");
    }
  }

  private async find(): Promise<ServerCommand | undefined> {
    try {
      const server = await findServer(this.managed);
      if (server === undefined) {
        void this.missing();
      }
      return server;
    } catch (error) {
      if (!(error instanceof SettingError)) {
        throw error;
      }
      this.status.stopped(error.message, "clmap.openServerSettings", "Open Setting");
      void this.tell(`clmap: ${error.message}`, error.setting);
      return undefined;
    }
  }

  private async missing(): Promise<void> {
    if (await this.managed.hadEarlier()) {
      await this.install(); // The extension was updated: so is the server that it had installed.
      return;
    }
    this.status.stopped("clmap-lsp is not installed", "clmap.installServer", "Install Server");
    this.waiting = whenOneAppears(() => void this.restart());
    await offerToInstall(
      "clmap-lsp is not installed: it is neither in the selected Python interpreter, nor on PATH, nor in ~/.local/bin.",
    );
  }

  private async launch(server: ServerCommand): Promise<void> {
    this.origin = server.origin;
    const level = vscode.workspace.getConfiguration("clmap").get<string>("logLevel", "warning");
    // Not in the workspace: Python and the dynamic linker look into the current folder.
    const options = { cwd: this.context.extensionPath };
    const executable = { command: server.command, args: [...server.args, "--stdio", "--log-level", level], options };
    const serverOptions: ServerOptions = { run: executable, debug: executable };
    const client = new LanguageClient("clmap", "clmap", serverOptions, this.clientOptions());
    this.client = client;
    client.onDidChangeState((change) => this.status.show(change.newState, this.origin));
    client.onNotification(statusNotification, ({ worker }) => this.status.worker(worker));
    try {
      await client.start();
      this.failures = 0;
      this.started(server);
    } catch (error) {
      await this.failed(server, error);
    }
  }

  private started(server: ServerCommand): void {
    const theirs = this.client?.initializeResult?.serverInfo?.version;
    const ours = String(this.context.extension.packageJSON["version"]);
    this.output.info(`server ${theirs ?? "of unknown version"}: ${server.command} (${server.origin}); extension ${ours}`);
    void this.device.refresh();
    void offerToAnswerAlone(this.context);
    if (theirs !== undefined && minor(theirs) !== minor(ours)) {
      void this.offerFitting(`clmap: the server (${server.origin}) is version ${theirs}, the extension ${ours}.`);
    }
  }

  private async failed(server: ServerCommand, error: unknown): Promise<void> {
    this.failures += 1;
    const checked = await execute(server.command, [...server.args, "--version"], { timeoutMs: 20_000 });
    const why = checked.code === 0 ? String(error) : `exit code ${checked.code}: ${checked.output.split("\n").pop() ?? ""}`;
    const message = `${server.command} (${server.origin}) does not start: ${why}`;
    this.output.error(message);
    this.status.stopped(message, "clmap.showLogs", "Show Logs");
    const setting = server.origin.startsWith("setting ") ? server.origin.slice("setting ".length) : undefined;
    void this.tell(`clmap: ${message}`, setting); // Not awaited: a restart does not wait for a button.
  }

  private async tell(message: string, setting: string | undefined): Promise<void> {
    const buttons = [...(setting ? ["Open Setting"] : []), "Install Server", "Show Logs"];
    const choice = await vscode.window.showErrorMessage(message, ...buttons);
    if (choice === "Open Setting") {
      await vscode.commands.executeCommand("workbench.action.openSettings", setting);
    } else if (choice === "Install Server") {
      await this.install();
    } else if (choice === "Show Logs") {
      this.output.show();
    }
  }

  private async offerFitting(message: string): Promise<void> {
    if (await vscode.window.showWarningMessage(message, "Install the Fitting Server")) {
      await this.install();
    }
  }

  /** Stop the server and start it anew, one restart after the other: two servers would register their commands twice. */
  restart(): Promise<void> {
    const next = async () => {
      await this.stop();
      await this.start();
    };
    this.restarted = this.restarted.then(next, next);
    return this.restarted;
  }

  async stop(): Promise<void> {
    this.waiting?.dispose();
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
    };
  }
}

function minor(version: string): string {
  return version.split(".").slice(0, 2).join(".");
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
  void clmap.restart(); // Not awaited: activation stays short.
  return { activationMs: performance.now() - started };
}

export async function deactivate(): Promise<void> {
  await clmap?.stop();
}

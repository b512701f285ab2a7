import { createDaemon, type DaemonOptions } from "@codexkit/daemon";
import { DaemonClient } from "@codexkit/daemon/client";
import type { Script, ScriptedModel } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders, createCodexHome, findFreePort } from "@codexkit/testing";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { builtPage } from "./built-page.ts";
import type { PageServer } from "./page-server.ts";

const PROGRAM = join(import.meta.dirname, "daemon-program.ts");

/** Folders, model and options of a daemon with the real codex. */
export class DaemonHome implements AsyncDisposable {
  readonly folders: CodexFolders;
  readonly options: DaemonOptions & { readonly stateFolder: string };

  private constructor(folders: CodexFolders, stateFolder: string) {
    this.folders = folders;
    this.options = {
      stateFolder,
      staticFiles: builtPage(),
      nodeName: "here",
      roots: [folders.workspace],
      userCodexHome: join(folders.root, "no-codex-home"),
      codex: { inheritEnv: false, env: folders.env },
      logger: "silent",
      drainMs: 1000,
    };
  }

  /** @param modelName The model's name, which determines the tools that Codex offers. */
  static async create(model: ScriptedModel | Script, modelName?: string): Promise<DaemonHome> {
    const folders = await codexFolders({ model, ...(modelName !== undefined && { modelName }) });
    const stateFolder = join(folders.root, "state");
    await createCodexHome(join(stateFolder, "codex"), folders);
    return new DaemonHome(folders, stateFolder);
  }

  async token(): Promise<string> {
    return (await readFile(join(this.options.stateFolder, "token"), "utf8")).trim();
  }

  /** Starts a daemon in this process. */
  async start(options: DaemonOptions = {}): Promise<RealDaemon> {
    const daemon = await createDaemon({ ...this.options, ...options });
    const url = await daemon.listen();
    const token = await this.token();
    const readers = new AsyncDisposableStack();
    return {
      url,
      token,
      readers,
      workspace: this.folders.workspace,
      client: new DaemonClient({ url, token }),
      [Symbol.asyncDispose]: async () => {
        await readers.disposeAsync();
        await daemon.close();
      },
    };
  }

  /** Starts a daemon in a process of its own, which can be killed. */
  async spawn(): Promise<KillableDaemon> {
    const port = await findFreePort();
    const daemon = new KillableDaemon(this, port);
    await daemon.start();
    return daemon;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.folders[Symbol.asyncDispose]();
  }
}

export interface RealDaemon extends PageServer, AsyncDisposable {
  readonly client: DaemonClient;
  readonly workspace: string;
}

/** Starts a daemon with the real codex, whose model plays a script. */
export async function startRealDaemon(
  model: ScriptedModel | Script,
  options: DaemonOptions = {},
): Promise<RealDaemon> {
  await using made = new AsyncDisposableStack();
  const home = made.use(await DaemonHome.create(model));
  const daemon = made.use(await home.start(options));
  const owner = made.move();
  return { ...daemon, [Symbol.asyncDispose]: async () => owner.disposeAsync() };
}

/** A daemon process that is killed and started again at the same address. */
export class KillableDaemon implements PageServer, AsyncDisposable {
  readonly url: string;
  readonly readers = new AsyncDisposableStack();
  readonly #home: DaemonHome;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #token = "";

  constructor(home: DaemonHome, port: number) {
    this.#home = home;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  get token(): string {
    return this.#token;
  }

  get client(): DaemonClient {
    return new DaemonClient({ url: this.url, token: this.#token });
  }

  async start(): Promise<void> {
    const { stateFolder, staticFiles, roots, userCodexHome } = this.#home.options;
    const settings = {
      port: this.#port,
      stateFolder,
      staticFiles,
      roots,
      userCodexHome,
      env: this.#home.folders.env,
    };
    const args = ["--conditions=codexkit:source", PROGRAM, JSON.stringify(settings)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    await Promise.race([
      once(child.stdout, "data"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`The daemon ended with ${code}.`))),
    ]);
    this.#token = await this.#home.token();
  }

  /** Kills the daemon with SIGKILL. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.readers.disposeAsync();
    await this.#end("SIGTERM");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

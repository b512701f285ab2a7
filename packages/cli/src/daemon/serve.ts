import type { Daemon } from "@codexkit/daemon";
import { type CliContext, printJson } from "../context.ts";
import { lifetime } from "../process/lifetime.ts";
import type { ServeOptions } from "./serve-options.ts";
import { type StartedDaemon, startDaemon } from "./start-daemon.ts";

/** Implements `codexkit serve`. Runs until a signal arrives. */
export async function serve(options: ServeOptions, context: CliContext): Promise<void> {
  await using started = await startDaemon(options, context);
  if (!context.signal.aborted) printStarted(started, context);
  await closeOnSignal(started.daemon, context);
}

/** Resolves when the daemon has closed. The first signal waits for running turns; the second one does not. */
async function closeOnSignal(daemon: Daemon, { stderr, signal }: CliContext): Promise<void> {
  const closed = Promise.withResolvers<void>();
  let signals = 0;
  const shutDown = (): void => {
    signals += 1;
    if (signals === 1) {
      stderr.write("Stopping. A second interrupt ends running turns immediately.\n");
      closed.resolve(daemon.close());
    } else void daemon.drain(0);
  };
  using _handler = lifetime.onShutDown(shutDown);
  // The reader of stdout or stderr has exited, or a signal arrived during startup.
  const abandon = (): void => closed.resolve(daemon.close({ drainMs: 0 }));
  if (signal.aborted) abandon();
  else signal.addEventListener("abort", abandon);
  await closed.promise;
}

function printStarted(started: StartedDaemon, context: CliContext): void {
  const { stdout, stderr, style, errorStyle, json } = context;
  const { url, consoleUrl, tokenFile, stateFolder, store, roots, credentials, isDemo } = started;
  if (json) {
    printJson(context, {
      url,
      consoleUrl,
      pid: process.pid,
      tokenFile,
      stateFolder,
      store,
      roots,
      credentials,
      isDemo,
    });
  } else {
    const rows = [
      ["console", consoleUrl === null ? "none" : style.bold(consoleUrl)],
      ["store", STORES[store](stateFolder)],
      ["roots", roots.join(", ") || "none"],
      [
        "model",
        store === "replay"
          ? "none (read-only)"
          : isDemo
            ? "scripted (--demo)"
            : describeCredentials(credentials),
      ],
      [
        "token",
        started.hasAuth
          ? (tokenFile ?? "none on this machine. Set CODEXKIT_TOKEN, or create one with --token-file NEW")
          : "none needed",
      ],
    ];
    const lines = rows.map(([name = "", value = ""]) => `  ${style.dim(name.padEnd(7))} ${value}`);
    stdout.write([`Listening on ${style.bold(url)}`, ...lines, "Press Ctrl-C to stop.", ""].join("\n"));
  }
  if (!isDemo && store !== "replay" && (credentials.kind === "none" || credentials.kind === "unusable")) {
    stderr.write(
      `${errorStyle.yellow("warning:")} No credentials for a model were found, so turns will fail.\n` +
        "Run `codexkit login` or set OPENAI_API_KEY, and restart the daemon. To try it without credentials, add --demo.\n",
    );
  }
}

const STORES = {
  sqlite: (folder: string) => folder,
  postgres: (folder: string) => `Postgres, with ${folder}`,
  replay: (file: string) => `a replay of ${file}`,
} as const;

function describeCredentials({ kind, source, email, reason }: StartedDaemon["credentials"]): string {
  if (kind === "apiKey") return `API key of ${source ?? "Codex"}`;
  if (kind === "chatgpt") return `ChatGPT login${email === undefined ? "" : ` of ${email}`}`;
  return reason === undefined ? "no credentials" : `no usable credentials: ${reason}`;
}

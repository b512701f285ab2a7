import type { ChildProcess } from "node:child_process";
import { Codex, VERSION } from "../codex.ts";
import { CodexError } from "../errors.ts";
import { exitError, PROMPT_LINE, type ThreadRunError, toRefusalError, toStartReport } from "./errors.ts";
import type { LaunchPlan } from "./launch-plan.ts";
import { EventLoopHold } from "./event-loop-hold.ts";
import { COMPAT_LIMITS } from "./limits.ts";
import { StderrLines } from "./stderr-lines.ts";
import { ThreadLoader } from "./thread-loader.ts";
import { WarningLog } from "./warning-log.ts";

/** The release of the package that this one replaces, so that it supports the same versions. */
const OLDEST_CODEX = "0.163.0";

/** Notifications with partial text, which are never emitted here. */
const UNUSED_NOTIFICATIONS = [
  "item/agentMessage/delta",
  "item/plan/delta",
  "item/reasoning/summaryTextDelta",
  "item/reasoning/summaryPartAdded",
  "item/reasoning/textDelta",
  "item/commandExecution/outputDelta",
  "item/mcpToolCall/progress",
  "turn/diff/updated",
];

/** A codex process for all turns with the same launch plan. It keeps the event loop alive only while a turn is running. */
export class SharedServer {
  readonly codex: Codex;
  readonly warnings: WarningLog;
  readonly threads: ThreadLoader;
  /** In use while a turn is starting or running. */
  readonly hold: EventLoopHold;
  readonly #child: ChildProcess | undefined;
  readonly #stderr: StderrLines;
  readonly #exitListeners = new Set<() => void>();
  #isClosing = false;

  private constructor(codex: Codex, { child, stderr, warnings }: Launching) {
    this.codex = codex;
    this.warnings = warnings;
    this.threads = new ThreadLoader(codex, warnings, (listener) => this.onExit(listener));
    this.hold = new EventLoopHold(child);
    this.#child = child;
    this.#stderr = stderr;
    child?.once("exit", () => {
      for (const listener of this.#exitListeners) listener();
      this.#exitListeners.clear();
    });
  }

  static async launch(plan: LaunchPlan): Promise<SharedServer> {
    const launching: Launching = { stderr: new StderrLines(), warnings: new WarningLog(), child: undefined };
    try {
      return new SharedServer(await launchCodex(plan, launching), launching);
    } catch (error) {
      const { child, stderr } = launching;
      throw hasEnded(child) ? toExitError(error, child, toStartReport(stderr.text)) : toOriginalError(error);
    }
  }

  /** Whether it can run turns: the process is running and is not being closed. */
  get isRunning(): boolean {
    return !this.#isClosing && !hasEnded(this.#child);
  }

  /** Calls the listener when the process ends, or immediately if it has ended. */
  onExit(listener: () => void): Disposable {
    if (hasEnded(this.#child)) listener();
    else this.#exitListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#exitListeners.delete(listener) };
  }

  /** Converts the error of a call to this server to that of the original. */
  explain(error: unknown): unknown {
    const isLost =
      error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "closed");
    return isLost
      ? toExitError(error, this.#child, `${PROMPT_LINE}${this.#stderr.text}`)
      : toOriginalError(error);
  }

  /** Kills a process that no longer responds. Its turns fail as after a crash. */
  kill(): void {
    this.#isClosing = true;
    this.#child?.kill("SIGKILL");
  }

  /** Ends the process and releases its resources. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.codex.close();
  }
}

/** Data collected from a codex since its launch. */
interface Launching {
  readonly stderr: StderrLines;
  readonly warnings: WarningLog;
  child: ChildProcess | undefined;
}

async function launchCodex(plan: LaunchPlan, launching: Launching): Promise<Codex> {
  const { codexPath, cwd, env, configOverrides, apiKey } = plan;
  const codex = await Codex.launch({
    codexPath,
    cwd,
    env,
    inheritEnv: false,
    configOverrides: [
      ...configOverrides,
      // Unloads a thread without a subscriber immediately, because another process may run its next turn.
      "thread_unload_delay_secs=0",
      // A key from the environment must not be written to the user's files.
      ...(apiKey === undefined ? [] : [`cli_auth_credentials_store="ephemeral"`]),
    ],
    clientInfo: { name: "codexkit_compat", version: VERSION },
    optOutNotifications: UNUSED_NOTIFICATIONS,
    minimumVersion: OLDEST_CODEX,
    limits: { callTimeoutMs: COMPAT_LIMITS.callTimeoutMs },
    handlers: { elicitation: () => "cancel" },
    onStderr: (line) => launching.stderr.add(line),
    onNotification: (message) => launching.warnings.receive(message),
    onSpawn: (child) => {
      launching.child = child;
    },
  });
  try {
    // Unlike `codex exec`, an app-server ignores CODEX_API_KEY.
    if (apiKey !== undefined) await codex.account.loginWithApiKey(apiKey);
    return codex;
  } catch (error) {
    await codex.close();
    throw error;
  }
}

function toOriginalError(error: unknown): unknown {
  return error instanceof CodexError ? toRefusalError(error) : error;
}

function hasEnded(child: ChildProcess | undefined): boolean {
  return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
}

function toExitError(cause: unknown, child: ChildProcess | undefined, stderr: string): ThreadRunError {
  const { exitCode = null, signalCode = null } = child ?? {};
  return exitError(signalCode === null ? `code ${exitCode ?? 1}` : `signal ${signalCode}`, stderr, cause);
}

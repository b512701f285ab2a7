import type { ChildProcess } from "node:child_process";
import { Codex, VERSION } from "../codex.ts";
import { CodexError } from "../errors.ts";
import { exitError, PROMPT_LINE, refusal, startReport, type ThreadRunError } from "./errors.ts";
import type { LaunchPlan } from "./launch-plan.ts";
import { LoopHold } from "./loop-hold.ts";
import { NoticeLog } from "./notice-log.ts";
import { StderrLines } from "./stderr-lines.ts";
import { ThreadLoader } from "./thread-loader.ts";

/** The release of the package that this one stands in for: what it could run, this can. */
const OLDEST_CODEX = "0.163.0";

/** Nothing here shows a text before it is complete. */
const UNSHOWN = [
  "item/agentMessage/delta",
  "item/plan/delta",
  "item/reasoning/summaryTextDelta",
  "item/reasoning/summaryPartAdded",
  "item/reasoning/textDelta",
  "item/commandExecution/outputDelta",
  "item/mcpToolCall/progress",
  "turn/diff/updated",
];

/** One codex, for all turns with the same launch plan. It keeps the program alive only while one of them runs. */
export class SharedServer {
  readonly codex: Codex;
  readonly notices: NoticeLog;
  readonly threads: ThreadLoader;
  /** Turns that run or are about to. */
  readonly hold: LoopHold;
  readonly #child: ChildProcess | undefined;
  readonly #stderr: StderrLines;
  readonly #exitListeners = new Set<() => void>();
  #closing = false;

  private constructor(codex: Codex, { child, stderr, notices }: Launching) {
    this.codex = codex;
    this.notices = notices;
    this.threads = new ThreadLoader(codex, notices, (listener) => this.onExit(listener));
    this.hold = new LoopHold(child);
    this.#child = child;
    this.#stderr = stderr;
    child?.once("exit", () => {
      for (const listener of this.#exitListeners) listener();
      this.#exitListeners.clear();
    });
  }

  static async launch(plan: LaunchPlan): Promise<SharedServer> {
    const launching: Launching = { stderr: new StderrLines(), notices: new NoticeLog(), child: undefined };
    try {
      return new SharedServer(await launchCodex(plan, launching), launching);
    } catch (error) {
      const { child, stderr } = launching;
      throw hasEnded(child) ? endError(error, child, startReport(stderr.text)) : inOldWords(error);
    }
  }

  /** Whether it can take turns: the process is there, and nothing ends it. */
  get alive(): boolean {
    return !this.#closing && !hasEnded(this.#child);
  }

  /** Calls the listener once the process has ended, or at once if it has. */
  onExit(listener: () => void): Disposable {
    if (hasEnded(this.#child)) listener();
    else this.#exitListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#exitListeners.delete(listener) };
  }

  /** Whatever a call to this server failed with, in the old package's words. */
  explain(error: unknown): unknown {
    const lost =
      error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "closed");
    return lost ? endError(error, this.#child, `${PROMPT_LINE}${this.#stderr.text}`) : inOldWords(error);
  }

  /** Ends a process that no longer answers. Its turns fail as if it had died. */
  kill(): void {
    this.#closing = true;
    this.#child?.kill("SIGKILL");
  }

  /** Ends the process, and what is left of it when it is gone already. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.codex.close();
  }
}

/** What is collected from a codex from its first moment on. */
interface Launching {
  readonly stderr: StderrLines;
  readonly notices: NoticeLog;
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
      // A thread without a subscriber is unloaded at once: its next turn may be another process's.
      "thread_unload_delay_secs=0",
      // A key from the environment must not be written to the user's files.
      ...(apiKey === undefined ? [] : [`cli_auth_credentials_store="ephemeral"`]),
    ],
    clientInfo: { name: "codexkit_compat", version: VERSION },
    optOutNotifications: UNSHOWN,
    minimumVersion: OLDEST_CODEX,
    handlers: { elicitation: () => "cancel" },
    onStderr: (line) => launching.stderr.add(line),
    onNotification: (message) => launching.notices.receive(message),
    onSpawn: (child) => {
      launching.child = child;
    },
  });
  try {
    // Unlike `codex exec`, an app-server does not look at CODEX_API_KEY.
    if (apiKey !== undefined) await codex.account.loginWithApiKey(apiKey);
    return codex;
  } catch (error) {
    await codex.close();
    throw error;
  }
}

function inOldWords(error: unknown): unknown {
  return error instanceof CodexError ? refusal(error) : error;
}

function hasEnded(child: ChildProcess | undefined): boolean {
  return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
}

function endError(cause: unknown, child: ChildProcess | undefined, stderr: string): ThreadRunError {
  const { exitCode = null, signalCode = null } = child ?? {};
  return exitError(signalCode === null ? `code ${exitCode ?? 1}` : `signal ${signalCode}`, stderr, cause);
}

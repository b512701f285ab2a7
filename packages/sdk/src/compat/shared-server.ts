import type { ChildProcess } from "node:child_process";
import { Codex, VERSION } from "../codex.ts";
import { CodexError } from "../errors.ts";
import { exitError, PROMPT_LINE, refusal, type ThreadRunError } from "./errors.ts";
import { HeldThreads } from "./held-threads.ts";
import type { LaunchPlan } from "./launch-plan.ts";
import { LoopHold } from "./loop-hold.ts";
import { Notices } from "./notices.ts";
import { StderrLines } from "./stderr-lines.ts";

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
  readonly notices: Notices;
  readonly threads: HeldThreads;
  /** Turns that run or are about to. */
  readonly hold: LoopHold;
  readonly #child: ChildProcess | undefined;
  readonly #stderr: StderrLines;

  private constructor(codex: Codex, child: ChildProcess | undefined, stderr: StderrLines) {
    this.codex = codex;
    this.notices = new Notices(codex);
    this.threads = new HeldThreads(codex);
    this.hold = new LoopHold(child);
    this.#child = child;
    this.#stderr = stderr;
  }

  static async launch(plan: LaunchPlan): Promise<SharedServer> {
    const stderr = new StderrLines();
    let child: ChildProcess | undefined;
    try {
      const codex = await launchCodex(plan, stderr, (spawned) => {
        child = spawned;
      });
      return new SharedServer(codex, child, stderr);
    } catch (error) {
      throw hasEnded(child) ? endError(error, child, stderr.text) : inOldWords(error);
    }
  }

  /** Whether the process is there. */
  get alive(): boolean {
    return !hasEnded(this.#child);
  }

  onExit(listener: () => void): void {
    this.#child?.once("exit", listener);
  }

  /** Whatever a call to this server failed with, in the old package's words. */
  explain(error: unknown): unknown {
    const lost =
      error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "closed");
    return lost ? endError(error, this.#child, `${PROMPT_LINE}${this.#stderr.text}`) : inOldWords(error);
  }

  /** Ends the process, and what is left of it when it is gone already. */
  async close(): Promise<void> {
    this.threads.forget();
    await this.codex.close();
  }
}

async function launchCodex(
  plan: LaunchPlan,
  stderr: StderrLines,
  onSpawn: (child: ChildProcess) => void,
): Promise<Codex> {
  const { codexPath, env, configOverrides, apiKey } = plan;
  const codex = await Codex.launch({
    codexPath,
    env,
    inheritEnv: false,
    configOverrides: [
      ...configOverrides,
      // A thread that is let go must be free at once: its next turn may be another process's.
      "thread_unload_delay_secs=0",
      // A key from the environment must not be written to the user's files.
      ...(apiKey === undefined ? [] : [`cli_auth_credentials_store="ephemeral"`]),
    ],
    clientInfo: { name: "codexkit_compat", version: VERSION },
    optOutNotifications: UNSHOWN,
    minimumVersion: OLDEST_CODEX,
    handlers: { elicitation: () => "cancel" },
    onStderr: (line) => stderr.add(line),
    onSpawn,
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

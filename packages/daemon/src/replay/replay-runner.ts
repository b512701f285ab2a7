import { DaemonError } from "../errors.ts";
import { NO_FLEET_STATUS, type Runner, type RunnerStatus } from "../sessions/runner.ts";

/** The runner of a daemon that replays a session. It has no Codex and never runs anything. */
export class ReplayRunner implements Runner {
  #state: RunnerStatus["state"] = "stopped";

  async start(): Promise<void> {
    this.#state = "running";
  }

  async releaseSessions(): Promise<void> {
    await this.drain();
  }

  async drain(): Promise<void> {
    this.#state = "closed";
  }

  async close(): Promise<void> {
    await this.drain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get status(): RunnerStatus {
    return {
      state: this.#state,
      nodeId: null,
      sessions: 0,
      runningTurns: 0,
      openApprovals: 0,
      appServers: [],
      turns: { completed: 0, failed: 0, interrupted: 0 },
      appServerRestarts: 0,
      recoveredSessions: 0,
      fleet: NO_FLEET_STATUS,
    };
  }

  /** The status that clients see never changes. */
  onChange(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  async models(): Promise<never> {
    throw readOnly();
  }

  async account(): Promise<never> {
    throw readOnly();
  }

  async quotas(): Promise<never> {
    throw readOnly();
  }

  async searchFiles(): Promise<never> {
    throw readOnly();
  }

  credentialStatus() {
    return { kind: "none", source: null } as const;
  }
}

export function readOnly(): DaemonError {
  return new DaemonError(
    "read_only",
    "This daemon replays an exported session, which is read-only. Import the file into another daemon to continue the session.",
  );
}

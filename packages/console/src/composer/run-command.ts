import type { Command, DaemonClient, TurnSummary } from "@codexkit/daemon/client";
import type { PlannedCommand } from "./plan-command.ts";

export interface CommandTarget {
  readonly client: DaemonClient;
  readonly sessionId: string;
  readonly threadId: string | null;
  /** Turns of the session, oldest first, with those of agents. */
  readonly turns: readonly TurnSummary[];
}

export interface CommandOutcome {
  /** The outcome in one sentence. */
  readonly message: string;
  readonly failed?: true;
  /** The session to show now, after a fork. */
  readonly openSession?: string;
}

/** How long the page waits for the outcome of a command. */
const WAIT_MS = 20_000;

/** Runs a slash command. Rejects with a `DaemonClientError` if the daemon refuses the request. */
export async function runCommand(
  planned: PlannedCommand,
  { client, sessionId, threadId, turns }: CommandTarget,
): Promise<CommandOutcome> {
  const params = { sessionId };
  const query = { wait: WAIT_MS };
  switch (planned.operation) {
    case "refuse":
      return { message: planned.message, failed: true };
    case "compact":
      return describe(
        await client.request("POST /sessions/{sessionId}/compact", { params, query }),
        "Compacting the context.",
      );
    case "interrupt":
      return describe(
        await client.request("POST /sessions/{sessionId}/interrupt", { params, query }),
        "Interrupted.",
      );
    case "archive":
      return describe(
        await client.request("POST /sessions/{sessionId}/archive", { params, query }),
        "Archived.",
      );
    case "park":
      return describe(
        await client.request("POST /sessions/{sessionId}/park", { params, query }),
        "Parked. The requests wait in the inbox.",
      );
    case "shell":
      return describe(
        await client.request("POST /sessions/{sessionId}/shell", {
          params,
          body: { command: planned.command },
        }),
        "Running the command.",
      );
    case "review":
      return describe(
        await client.request("POST /sessions/{sessionId}/review", { params, body: planned.body }),
        "The review has started.",
      );
    case "rename":
      return describe(
        await client.request("PUT /sessions/{sessionId}/name", {
          params,
          query,
          body: { name: planned.name },
        }),
        "Renamed.",
      );
    case "goal":
      return describe(
        await client.request("PUT /sessions/{sessionId}/goal", { params, query, body: planned.body }),
        planned.body.goal ? "The goal is set." : "The goal is removed.",
      );
    case "settings":
      return describe(
        await client.request("PATCH /sessions/{sessionId}/settings", { params, query, body: planned.body }),
        "Changed. It applies from the next turn.",
      );
    case "fork": {
      const command = await client.request("POST /sessions/{sessionId}/fork", {
        params,
        query,
        body: planned.body,
      });
      const forkId = command.result?.["sessionId"];
      return {
        ...describe(command, "Forked."),
        ...(typeof forkId === "string" && { openSession: forkId }),
      };
    }
    case "revert": {
      const beforeTurnId = turns.filter((turn) => turn.threadId === threadId).at(-planned.turns)?.id;
      if (beforeTurnId === undefined) {
        return { message: `The session has fewer than ${planned.turns} turns.`, failed: true };
      }
      const command = await client.request("POST /sessions/{sessionId}/revert", {
        params,
        query,
        body: { beforeTurnId },
      });
      const count = planned.turns === 1 ? "The last turn is" : `The last ${planned.turns} turns are`;
      return describe(command, `${count} removed from the history. Files are unchanged.`);
    }
  }
}

function describe({ state, problem }: Command, message: string): CommandOutcome {
  if (problem) return { message: `${problem.title}: ${problem.detail}`, failed: true };
  return { message: state === "done" || state === "running" ? message : `${message} It waits for its turn.` };
}

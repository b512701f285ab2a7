import type { z } from "zod";
import type { goal } from "../api/command.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import type { SessionRow } from "../database/tables.ts";

/** The owner's copy of its session's state. Only the owner changes the session, so the state is not read again. */
export interface SessionState {
  readonly sessionId: string;
  readonly cwd: string;
  readonly setup: SessionSetup;
  threadId: string | undefined;
  settings: SessionSettings;
  name: string | null;
  goal: z.infer<typeof goal> | null;
  /** ID of the running turn of the thread itself, not of its agents. */
  activeTurnId: string | undefined;
  /** ID of a turn that was cut off, until the owner has reacted to it. */
  interruptedTurnId: string | undefined;
  /** Whether the daemon is cutting off the running turn, as opposed to a person who interrupts it. */
  isCutOff: boolean;
  readonly tenantId: string;
  readonly priority: number;
  readonly needs: readonly string[];
}

export function parseState(row: SessionRow): SessionState {
  return {
    sessionId: row.id,
    cwd: row.cwd,
    setup: JSON.parse(row.setup) as SessionSetup,
    threadId: row.thread_id ?? undefined,
    settings: JSON.parse(row.settings) as SessionSettings,
    name: row.name,
    goal: row.goal === null ? null : (JSON.parse(row.goal) as SessionState["goal"]),
    activeTurnId: row.active_turn_id ?? undefined,
    interruptedTurnId: row.interrupted_turn_id ?? undefined,
    isCutOff: false,
    tenantId: row.tenant_id,
    priority: row.priority,
    needs: JSON.parse(row.needs) as string[],
  };
}

import type { z } from "zod";
import type { goal } from "../api/command.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import type { SessionRow } from "../database/tables.ts";

/** What the owner knows about its session. Only the owner changes it, so that it is not read again. */
export interface SessionState {
  readonly sessionId: string;
  readonly cwd: string;
  readonly setup: SessionSetup;
  threadId: string | undefined;
  settings: SessionSettings;
  name: string | null;
  goal: z.infer<typeof goal> | null;
  /** The running turn of the thread itself, not of its agents. */
  activeTurnId: string | undefined;
  /** A turn that was cut off, until the owner has reacted to it. */
  interruptedTurnId: string | undefined;
  /** Whether the daemon cuts the running turn off. Its end is no decision of a person. */
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

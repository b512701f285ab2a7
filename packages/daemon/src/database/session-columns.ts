import type { TokenUsage } from "codexkit";
import type { z } from "zod";
import type { goal } from "../api/command.ts";
import type { Problem } from "../api/problem.ts";
import type { SessionSettings } from "../api/settings.ts";
import type { SessionPhase, SessionTable } from "./tables.ts";

/** Columns that the owner changes. The values are parsed; the store serialises them. */
export interface SessionChanges {
  readonly threadId?: string;
  readonly name?: string | null;
  readonly settings?: SessionSettings;
  readonly goal?: z.infer<typeof goal> | null;
  readonly phase?: SessionPhase;
  readonly problem?: Problem | null;
  readonly activeTurnId?: string | null;
  readonly preview?: string;
  readonly usage?: TokenUsage | null;
  readonly archived?: boolean;
  readonly needs?: readonly string[];
  readonly codexVersion?: string;
  readonly interruptedTurnId?: string | null;
}

/**
 * Returns the columns of an owner's changes. `archived` becomes a timestamp, so the caller passes the time of the
 * store's clock.
 */
export function toColumns(changes: SessionChanges, now: number): Partial<SessionTable> {
  const columns: Partial<SessionTable> = {};
  if (changes.threadId !== undefined) columns.thread_id = changes.threadId;
  if (changes.name !== undefined) columns.name = changes.name;
  if (changes.settings !== undefined) columns.settings = JSON.stringify(changes.settings);
  if (changes.goal !== undefined) columns.goal = changes.goal && JSON.stringify(changes.goal);
  if (changes.phase !== undefined) columns.phase = changes.phase;
  if (changes.problem !== undefined) columns.problem = changes.problem && JSON.stringify(changes.problem);
  if (changes.activeTurnId !== undefined) columns.active_turn_id = changes.activeTurnId;
  if (changes.preview !== undefined) columns.preview = changes.preview;
  if (changes.usage !== undefined) columns.usage = changes.usage && JSON.stringify(changes.usage);
  if (changes.archived !== undefined) columns.archived_at = changes.archived ? now : null;
  if (changes.needs !== undefined) columns.needs = JSON.stringify(changes.needs);
  if (changes.codexVersion !== undefined) columns.codex_version = changes.codexVersion;
  if (changes.interruptedTurnId !== undefined) columns.interrupted_turn_id = changes.interruptedTurnId;
  return columns;
}

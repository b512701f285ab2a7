import type { TokenUsage } from "codexkit";
import { z } from "zod";
import { goal } from "./command.ts";
import { timestamp } from "./parameters.ts";
import { problem } from "./problem.ts";
import { sessionSettings } from "./settings.ts";

export const sessionPhase = z
  .enum(["ready", "running", "waiting", "parked", "idle", "stranded", "moving", "failed", "deleted"])
  .meta({
    id: "SessionPhase",
    description:
      "ready: has work that no node has started. running: a turn is running. waiting: the turn waits for an answer. parked: waits for an answer without a process. idle: nothing to do. stranded: its folder is on a lost node. moving: changes its node. failed: see `problem`. deleted: only its last summary is left.",
  });

const tokens = z.int().nonnegative();

export const tokenUsage = z
  .object({
    totalTokens: tokens,
    inputTokens: tokens,
    cachedInputTokens: tokens,
    cacheWriteInputTokens: tokens,
    outputTokens: tokens,
    reasoningOutputTokens: tokens,
  })
  .meta({ id: "TokenUsage" }) satisfies z.ZodType<TokenUsage>;

export const session = z
  .object({
    id: z.string(),
    threadId: z
      .string()
      .nullable()
      .meta({ description: "Codex's thread ID. Null until the thread has been started." }),
    name: z.string().nullable(),
    cwd: z.string(),
    settings: sessionSettings,
    goal: goal.nullable(),
    phase: sessionPhase,
    problem: problem.nullable(),
    activeTurnId: z.string().nullable(),
    preview: z.string().meta({ description: "First line of the newest message." }),
    usage: tokenUsage.nullable().meta({ description: "Token usage of the whole session." }),
    archivedAt: timestamp.nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
    priority: z.int(),
    node: z
      .string()
      .nullable()
      .meta({ description: "Name of the node that owns the session or owned it last." }),
    epoch: z.int().meta({
      description: "Number of the owner. Incremented when another node or boot takes over the session.",
    }),
    firstSeq: z.int().meta({ description: "Sequence number of the oldest event that retention has kept." }),
    lastSeq: z
      .int()
      .meta({ description: "Sequence number of the newest event. A summary with a lower number is older." }),
    codexVersion: z.string().nullable(),
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof session>;

export const command = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    key: z.string().meta({ description: "The idempotency key." }),
    kind: z.string(),
    state: z.enum(["accepted", "running", "done", "failed"]),
    by: z.string().meta({ description: "ID of the token that sent the command." }),
    createdAt: timestamp,
    finishedAt: timestamp.nullable(),
    result: z.record(z.string(), z.unknown()).nullable().meta({
      description: "Outcome of a completed command, such as the ID of a fork.",
    }),
    problem: problem.nullable().meta({ description: "Why the command failed." }),
  })
  .meta({ id: "Command" });
export type Command = z.infer<typeof command>;

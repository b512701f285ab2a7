import { z } from "zod";

/** The fields that are read here. Everything else is kept unchanged. */
const text = z.looseObject({ type: z.string(), text: z.string().optional() });
const toolContent = z.looseObject({
  type: z.string(),
  content: text.optional(),
  path: z.string().optional(),
  newText: z.string().optional(),
});

/** A tool call or an update of one. Only the id is always present. */
const toolCall = z.looseObject({
  toolCallId: z.string(),
  title: z.string().nullish(),
  name: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  content: z.array(toolContent).nullish(),
  locations: z.array(z.looseObject({ path: z.string() })).nullish(),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: z.unknown().optional(),
});

export type ToolCallPart = z.infer<typeof toolCall>;
export type ToolContent = z.infer<typeof toolContent>;

const chunk = z.looseObject({
  content: text,
  messageId: z.string().nullish(),
  _meta: z.unknown().optional(),
});

const knownUpdates = [
  chunk.extend({ sessionUpdate: z.literal("agent_message_chunk") }),
  chunk.extend({ sessionUpdate: z.literal("agent_thought_chunk") }),
  chunk.extend({ sessionUpdate: z.literal("user_message_chunk") }),
  toolCall.extend({ sessionUpdate: z.literal("tool_call") }),
  toolCall.extend({ sessionUpdate: z.literal("tool_call_update") }),
  z.looseObject({
    sessionUpdate: z.literal("plan"),
    entries: z.array(z.looseObject({ content: z.string(), status: z.string() })),
  }),
  z.looseObject({
    sessionUpdate: z.literal("usage_update"),
    used: z.number(),
    size: z.number(),
    cost: z.looseObject({ amount: z.number(), currency: z.string() }).nullish(),
  }),
  z.looseObject({
    sessionUpdate: z.literal("notice"),
    title: z.string(),
    description: z.string().nullish(),
  }),
  z.looseObject({ sessionUpdate: z.literal("current_mode_update"), currentModeId: z.string() }),
  z.looseObject({
    sessionUpdate: z.literal("session_info_update"),
    title: z.string().nullish(),
    // codex-acp reports the status of its thread here, including failed turns.
    _meta: z
      .looseObject({
        codex: z.looseObject({ threadStatus: z.looseObject({ type: z.string() }) }).optional(),
      })
      .nullish(),
  }),
] as const;

// Typed as a plain union: a discriminated one has other type parameters in older versions of zod 4.
const known: z.ZodUnion<typeof knownUpdates> = z.discriminatedUnion("sessionUpdate", knownUpdates);

/** An update of an unknown kind or shape. */
const other = z
  .looseObject({ sessionUpdate: z.string() })
  .transform((update) => ({ sessionUpdate: "other" as const, name: update.sessionUpdate, update }));

export const sessionNotification = z.looseObject({ sessionId: z.string(), update: z.union([known, other]) });

export type SessionNotification = z.infer<typeof sessionNotification>;
export type SessionUpdate = SessionNotification["update"];

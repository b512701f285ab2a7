import { z } from "zod";
import { sessionEvent } from "./history.ts";
import { approval } from "./inbox.ts";
import { session } from "./session.ts";

/**
 * A frame of the multiplexed stream. Sessions and approvals are sent as states, not changes: a newer state replaces an
 * older one, and a repeated state has no effect.
 */
export const streamFrame = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("session"), session }),
    z.object({ type: z.literal("approval"), approval }),
    z.object({
      type: z.literal("synced"),
      openApprovals: z.array(z.string()).meta({
        description: "IDs of all open approvals. All other approvals that the client knows are closed.",
      }),
    }),
    z.object({ type: z.literal("event"), sessionId: z.string(), event: sessionEvent }),
    z.object({
      type: z.literal("unavailable"),
      sessionId: z.string().meta({ description: "The watched session does not exist." }),
    }),
  ])
  .meta({ id: "StreamFrame" });
export type StreamFrame = z.infer<typeof streamFrame>;

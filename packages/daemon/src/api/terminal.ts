import { z } from "zod";
import { filePath } from "./file.ts";
import { timestamp } from "./parameters.ts";
import { problem } from "./problem.ts";

const columns = z.int().min(2).max(500);
const rows = z.int().min(1).max(300);

export const createTerminal = z
  .strictObject({
    columns: columns.default(80),
    rows: rows.default(24),
    command: z
      .array(
        z
          .string()
          .max(32_768)
          .regex(/^[^\0]*$/),
      )
      .min(1)
      .max(256)
      .optional()
      .meta({ description: "Program and arguments. Default: the shell of the daemon's user." }),
    cwd: filePath.optional().meta({ description: "Default: the session's folder." }),
  })
  .meta({ id: "CreateTerminal" });
export type CreateTerminal = z.infer<typeof createTerminal>;

export const terminal = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    command: z.array(z.string()),
    columns: z.int(),
    rows: z.int(),
    state: z.enum(["running", "ended"]),
    exitCode: z
      .int()
      .nullable()
      .meta({ description: "Null while the program is running, and if the exit code is unknown." }),
    createdAt: timestamp,
    by: z.string().meta({ description: "ID of the token that created the terminal." }),
    viewers: z.int(),
    writer: z.string().nullable().meta({ description: "ID of the viewer whose input the terminal accepts." }),
    offset: z.int().meta({ description: "Bytes of output so far." }),
  })
  .meta({ id: "Terminal" });
export type TerminalSummary = z.infer<typeof terminal>;

export const terminalScreen = z
  .object({
    screen: z.string().meta({
      description:
        "Escape sequences that draw the screen and the lines above it in an empty terminal of this size.",
    }),
    columns: z.int(),
    rows: z.int(),
    offset: z.int().meta({ description: "The screen after this many bytes of output." }),
  })
  .meta({ id: "TerminalScreen" });

/** A text message to a viewer. Binary messages are output: eight bytes with the offset (big-endian), then the bytes. */
export const terminalFrame = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("attached"),
      viewerId: z.string(),
      canWrite: z.boolean().meta({ description: "Whether the token has the scope `write`." }),
      writer: z.string().nullable(),
      resumed: z.boolean().meta({ description: "The output continues after `after`. No screen is sent." }),
    }),
    terminalScreen.extend({
      type: z.literal("screen").meta({
        description:
          "Replaces the whole screen. Sent on attach, after a resize, and to a viewer that fell behind.",
      }),
    }),
    z.object({ type: z.literal("writer"), viewerId: z.string().nullable() }),
    z.object({ type: z.literal("ended"), exitCode: z.int().nullable() }),
    z.object({ type: z.literal("problem"), problem }),
  ])
  .meta({ id: "TerminalFrame" });
export type TerminalFrame = z.infer<typeof terminalFrame>;

/** A message from a viewer. Only the writer can send messages other than `takeWriter`. */
export const terminalMessage = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("input"), data: z.string() }),
    z.strictObject({ type: z.literal("resize"), columns, rows }),
    z.strictObject({ type: z.literal("takeWriter") }),
    z.strictObject({ type: z.literal("releaseWriter") }),
  ])
  .meta({ id: "TerminalMessage" });
export type TerminalMessage = z.infer<typeof terminalMessage>;

import { z } from "zod";
import { filePath } from "./file.ts";
import { identifier, plainText } from "./parameters.ts";
import { budget, deadline, sessionSettings } from "./settings.ts";

const text = z.string().min(1).max(1_000_000);

/** Images are data URLs or references to uploaded images. */
export const messagePart = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("text"), text }),
    z.strictObject({
      type: z.literal("image"),
      url: z.string().regex(/^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]+$/),
    }),
    z.strictObject({ type: z.literal("uploadedImage"), imageId: z.string().regex(/^[0-9a-f]{64}$/) }),
  ])
  .meta({ id: "MessagePart" });

export const message = z
  .strictObject({
    input: z.union([text, z.array(messagePart).min(1).max(64)]),
    /**
     * start: rejected if a turn is running. steer: added to the running turn; rejected if none is running. queue: runs
     * after the queued messages.
     */
    mode: z.enum(["start", "steer", "queue"]).default("queue"),
  })
  .meta({
    id: "Message",
    examples: [{ input: "Make the failing test pass" }, { input: "Use the new API", mode: "steer" }],
  });
export type Message = z.infer<typeof message>;

export const reviewTarget = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("uncommittedChanges") }),
    z.strictObject({ type: z.literal("baseBranch"), branch: z.string().min(1).max(256) }),
    z.strictObject({
      type: z.literal("commit"),
      sha: z.string().regex(/^[0-9a-f]{4,64}$/),
      title: z.string().max(1024).optional(),
    }),
    z.strictObject({ type: z.literal("custom"), instructions: text }),
  ])
  .meta({ id: "ReviewTarget" });

export const goal = z
  .strictObject({
    objective: z.string().min(1).max(10_000),
    tokenBudget: z.int().positive().optional(),
  })
  .meta({ id: "Goal" });

/** The body of each kind of command. Every mutation of a session is a command. */
export const commandBodies = {
  create: z.strictObject({}),
  message,
  interrupt: z.strictObject({}),
  /** Ends the process of a turn that waits for an answer. The answer continues the turn. */
  park: z.strictObject({}),
  /** Removes a message that has not been sent to Codex yet. */
  unqueue: z.strictObject({ commandId: identifier }),
  fork: z.strictObject({
    name: plainText(256).optional(),
    /** Copies the history through this turn. Default: the whole history. */
    lastTurnId: identifier.optional(),
  }),
  /** Removes this turn and all later ones from the history. Files are not changed. */
  revert: z.strictObject({ beforeTurnId: identifier }),
  compact: z.strictObject({}),
  review: z.strictObject({ target: reviewTarget }),
  /** A command of the user. It runs outside the sandbox. */
  shell: z.strictObject({ command: z.string().min(1).max(100_000) }),
  /** The contents are not in the store. They are staged in the state folder of the session's node. */
  writeFile: z.strictObject({
    path: filePath,
    bytes: z.int().nonnegative(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    ifMatch: z.string().max(8192).optional(),
    isNew: z.literal(true).optional(),
  }),
  /** For each limit, null removes it. */
  settings: sessionSettings.partial().extend({
    budget: budget.nullable().optional(),
    deadline: deadline.nullable().optional(),
  }),
  rename: z.strictObject({ name: plainText(256) }),
  archive: z.strictObject({}),
  unarchive: z.strictObject({}),
  delete: z.strictObject({}),
  goal: z.strictObject({ goal: goal.nullable() }),
} as const satisfies Record<string, z.ZodType>;

export type CommandKind = keyof typeof commandBodies;
export type CommandBody<Kind extends CommandKind> = z.infer<(typeof commandBodies)[Kind]>;

/** A command as parsed from the store. */
export type AnyCommandBody = {
  [Kind in CommandKind]: { readonly kind: Kind; readonly body: CommandBody<Kind> };
}[CommandKind];

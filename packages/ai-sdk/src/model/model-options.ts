import type { McpServers } from "codexkit";
import { z } from "zod";
import { CodexModelError } from "../errors.ts";

const approvalPolicy = z.union([
  z.enum(["untrusted", "on-request", "never"]),
  z.strictObject({
    granular: z.strictObject({
      sandbox_approval: z.boolean(),
      rules: z.boolean(),
      skill_approval: z.boolean(),
      request_permissions: z.boolean(),
      mcp_elicitations: z.boolean(),
    }),
  }),
]);

const mcpServers = z.custom<McpServers>(
  (value) => typeof value === "object" && value !== null,
  "must be an object of servers by name",
);

/** What may be set for all calls and for one. */
export const sharedOptions = {
  /** The folder that Codex works in; absolute. */
  cwd: z.string().optional(),
  /** What commands may do without an approval. */
  sandbox: z.enum(["read-only", "workspace-write", "danger-full-access"]).optional(),
  /** When Codex asks before it acts. */
  approvalPolicy: approvalPolicy.optional(),
  /** How hard the model thinks; the call's own `reasoning` counts more. */
  effort: z.string().min(1).optional(),
  /** How much of its thoughts the model tells. */
  summary: z.enum(["auto", "concise", "detailed", "none"]).optional(),
  serviceTier: z.string().optional(),
  /** Whether Codex stores the thread, so that another process can go on with it. Default false. */
  persist: z.boolean().optional(),
  /** MCP servers of the thread, by name. */
  mcpServers: mcpServers.optional(),
  /** Instructions beside the system messages of the prompt. */
  instructions: z.string().optional(),
  /** Takes the place of Codex's own instructions. */
  baseInstructions: z.string().optional(),
  /** Anything else of Codex's configuration, for the thread. */
  config: z.record(z.string(), z.json()).optional(),
};

const namedPath = z.strictObject({ name: z.string().min(1), path: z.string().min(1) });

const schema = z.strictObject({
  ...sharedOptions,
  /** The thread to go on with, whatever the messages say. */
  threadId: z.string().min(1).optional(),
  /** Works on a copy of the thread: whole, through a turn, or up to one. */
  fork: z
    .union([
      z.boolean(),
      z.strictObject({ lastTurnId: z.string() }),
      z.strictObject({ beforeTurnId: z.string() }),
    ])
    .optional(),
  /** Makes the thread's history shorter before the turn. */
  compact: z.boolean().optional(),
  /** Skills to use, each with the path of its SKILL.md; say `$name` in the text too. */
  skills: z.array(namedPath).optional(),
  /** Files, apps (`app://id`) and plugins (`plugin://name@market`) that the text speaks of as `@name`. */
  mentions: z.array(namedPath).optional(),
});

/** `providerOptions.codex` of a call. */
export type CodexLanguageModelOptions = z.input<typeof schema>;

/** Reads the options of a call; what is not one is an error, since it would be lost without a word. */
export function readModelOptions(options: unknown): CodexLanguageModelOptions {
  return checked(schema, options ?? {}, "providerOptions.codex");
}

export function checked<Schema extends z.ZodType>(
  expected: Schema,
  value: unknown,
  where: string,
): z.output<Schema> {
  const result = expected.safeParse(value);
  if (result.success) return result.data;
  throw new CodexModelError("invalid_options", `${where} can't be used:\n${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}

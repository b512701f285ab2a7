import type { Policy } from "@codexkit/approvals";
import { Codex, type ConnectOptions, type LaunchOptions, type McpServers } from "codexkit";
import { z } from "zod";
import type { CodexHandlers } from "../approval/approval-handlers.ts";
import { checked, sharedOptions } from "../model/model-options.ts";

const object = <Type extends object>(): z.ZodType<Type> =>
  z.custom<Type>((value) => typeof value === "object" && value !== null, "must be an object");

const milliseconds = z.number().positive();

const schema = z
  .strictObject({
    ...sharedOptions,
    codex: z
      .custom<Codex>((value) => value instanceof Codex, "must be a Codex of the package codexkit")
      .optional(),
    launch: object<LaunchOptions>().optional(),
    connect: object<ConnectOptions & { readonly url: string | URL }>()
      .refine(({ url }) => Boolean(url), "needs the url of a server")
      .optional(),
    policy: z
      .custom<Policy | (() => Policy)>(
        (value) => typeof value === "object" || typeof value === "function",
        "must be a policy of @codexkit/approvals",
      )
      .optional(),
    handlers: object<CodexHandlers>().optional(),
    parkedTurnMs: milliseconds.optional(),
    idleShutdownMs: z.union([milliseconds, z.literal(false)]).optional(),
    fetch: z.custom<typeof fetch>((value) => typeof value === "function", "must be a function").optional(),
  })
  .refine(({ codex, launch, connect }) => [codex, launch, connect].filter(Boolean).length <= 1, {
    error: "Give one of codex, launch and connect.",
  });

/** How a provider reaches Codex, and what its threads and turns are like unless a call says otherwise. */
export interface CodexSettings {
  /** A Codex of your own; the provider does not close it. */
  readonly codex?: Codex | undefined;
  /** How a codex of the provider's is launched, at its first call. This, with defaults, is what happens without any setting. */
  readonly launch?: LaunchOptions | undefined;
  /** A running server: `ws://…`, `wss://…` or `unix:///path`. */
  readonly connect?: (ConnectOptions & { readonly url: string | URL }) | undefined;
  /** The folder that Codex works in; absolute. Default: that of the codex. */
  readonly cwd?: string | undefined;
  readonly sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  readonly approvalPolicy?: z.output<(typeof sharedOptions)["approvalPolicy"]>;
  /** How hard the model thinks; the call's own `reasoning` counts more. */
  readonly effort?: string | undefined;
  readonly summary?: "auto" | "concise" | "detailed" | "none" | undefined;
  readonly serviceTier?: string | undefined;
  /** Whether Codex stores threads, so that another process can go on with them. Default false. */
  readonly persist?: boolean | undefined;
  /** MCP servers of every thread; the user's configuration is not touched. */
  readonly mcpServers?: McpServers | undefined;
  /** Instructions beside the system messages of each prompt. */
  readonly instructions?: string | undefined;
  /** Takes the place of Codex's own instructions. */
  readonly baseInstructions?: string | undefined;
  /** Anything else of Codex's configuration, for every thread. */
  readonly config?: z.output<(typeof sharedOptions)["config"]>;
  /** Decides which approvals need no person. Without one, everything that Codex asks for does. */
  readonly policy?: Policy | (() => Policy) | undefined;
  /** Answers to what Codex asks, before the policy and a person. Questions of the model and of MCP servers have only these. */
  readonly handlers?: CodexHandlers | undefined;
  /** How long a turn waits for a tool's result or a person. Default 15 minutes. */
  readonly parkedTurnMs?: number | undefined;
  /** How long a codex without work is kept; false keeps it until `close`. Default ten minutes, five seconds of a connection. */
  readonly idleShutdownMs?: number | false | undefined;
  /** Fetches the files of prompts. */
  readonly fetch?: typeof fetch | undefined;
}

/** Reads the settings; what is not one is an error. */
export function readSettings(settings: CodexSettings): CodexSettings {
  return checked(schema, settings, "The settings of createCodex");
}

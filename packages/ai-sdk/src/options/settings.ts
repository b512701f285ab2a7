import type { Codex, CodexOptions, ConnectOptions, LaunchOptions } from "codexkit";
import { z } from "zod";
import { checked } from "./model-options.ts";
import { someFunctionsOf } from "./nested-options.ts";
import { type CodexModelSettings, milliseconds, modelSettings, object } from "./model-settings.ts";

const isCodex = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "startThread" in value && "resumeThread" in value;

const count = z.number().int().min(0);

const fields = {
  ...modelSettings,
  codex: z.custom<Codex>(isCodex, "must be a Codex from the package codexkit").optional(),
  launch: object<LaunchOptions>().optional(),
  connect: object<ConnectOptions & { readonly url: string | URL }>()
    .refine(({ url }) => Boolean(url), "needs a server's url")
    .optional(),
  transport: object<CustomTransport>()
    .refine(({ open }) => typeof open === "function", "needs an `open` function")
    .optional(),
  idleShutdownMs: z.union([milliseconds, z.literal(false)]).optional(),
  idleThreads: count.optional(),
  idleThreadMs: milliseconds.optional(),
  prestartedThreads: count.optional(),
  onPacket: z
    .custom<NonNullable<CodexOptions["onPacket"]>>(
      (value) => typeof value === "function",
      "must be a function",
    )
    .optional(),
  logger: someFunctionsOf<CodexLogger>({ debug: true, warn: true }).optional(),
  fetch: z.custom<typeof fetch>((value) => typeof value === "function", "must be a function").optional(),
};

/** The names of all provider settings. */
export const SETTINGS_KEYS: readonly string[] = Object.keys(fields);

const schema = z
  .strictObject(fields)
  .refine(
    ({ codex, launch, connect, transport }) =>
      [codex, launch, connect, transport].filter(Boolean).length <= 1,
    { error: "Pass at most one of codex, launch, connect and transport." },
  );

/** A custom connection to an app-server, for example through a tunnel, into a container or in a test. */
export interface CustomTransport extends CodexOptions {
  /** Opens a connection. Called again after the connection is lost. */
  readonly open: Parameters<typeof Codex.withTransport>[0];
  /** Whether the server shares this machine's file system. Default: false. */
  readonly local?: boolean | undefined;
}

/** Receives the log messages of the provider and of Codex. `console` works. */
export interface CodexLogger {
  debug?(message: string): void;
  warn?(message: string): void;
}

/** How a provider connects to Codex, and defaults for its threads and turns. A model or a call can override the defaults. */
export interface CodexSettings extends CodexModelSettings {
  /** An existing `Codex`. The provider does not close it. */
  readonly codex?: Codex | undefined;
  /** Options for launching codex at the first call. Default: the defaults of `Codex.launch`. */
  readonly launch?: LaunchOptions | undefined;
  /** Connects to a running server at `ws://…`, `wss://…` or `unix:///path`. */
  readonly connect?: (ConnectOptions & { readonly url: string | URL }) | undefined;
  /** Opens custom connections. */
  readonly transport?: CustomTransport | undefined;
  /** How long an idle codex is kept; false keeps it until `close`. Default: 10 minutes, or 5 seconds for `connect`. */
  readonly idleShutdownMs?: number | false | undefined;
  /** How many idle threads are kept for their next turn. Default: 64, or 2 for threads with MCP servers. */
  readonly idleThreads?: number | undefined;
  /** How long an idle thread is kept. Default: 10 minutes, or 5 seconds with MCP servers. */
  readonly idleThreadMs?: number | undefined;
  /** How many threads are started in advance for repeated calls of the same kind; 0 starts none. Default: 8. */
  readonly prestartedThreads?: number | undefined;
  /** Receives every message to and from Codex. Messages contain prompts and credentials, so log them with care. */
  readonly onPacket?: CodexOptions["onPacket"];
  /** Receives Codex's log (`debug`) and the turns' warnings (`warn`). Default: none. */
  readonly logger?: CodexLogger | undefined;
  /** Downloads files that prompts link to. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Validates a provider's settings. Rejects unknown keys. */
export function readSettings(settings: CodexSettings): CodexSettings {
  return checked(schema, settings, { what: "createCodex settings", keys: SETTINGS_KEYS });
}

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
  codex: z.custom<Codex>(isCodex, "must be a Codex of the package codexkit").optional(),
  launch: object<LaunchOptions>().optional(),
  connect: object<ConnectOptions & { readonly url: string | URL }>()
    .refine(({ url }) => Boolean(url), "needs the url of a server")
    .optional(),
  transport: object<CustomTransport>()
    .refine(({ open }) => typeof open === "function", "needs a function open")
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

/** All settings of a provider. */
export const SETTINGS_KEYS: readonly string[] = Object.keys(fields);

const schema = z
  .strictObject(fields)
  .refine(
    ({ codex, launch, connect, transport }) =>
      [codex, launch, connect, transport].filter(Boolean).length <= 1,
    { error: "Give one of codex, launch, connect and transport." },
  );

/** Connects to an app-server in a custom way: through a tunnel, into a container, in a test. */
export interface CustomTransport extends CodexOptions {
  /** Opens a connection. Called again after a connection was lost. */
  readonly open: Parameters<typeof Codex.withTransport>[0];
  /** Whether the server shares this machine's files. Default: false. */
  readonly local?: boolean | undefined;
}

/** Receives log messages of the provider and Codex. `console` can be used. */
export interface CodexLogger {
  debug?(message: string): void;
  warn?(message: string): void;
}

/** How a provider connects to Codex, and the defaults for its threads and turns, which a model or a call can override. */
export interface CodexSettings extends CodexModelSettings {
  /** An existing `Codex`. The provider does not close it. */
  readonly codex?: Codex | undefined;
  /** Options for launching a codex at the first call. Default: the defaults of `Codex.launch`. */
  readonly launch?: LaunchOptions | undefined;
  /** The address of a running server: `ws://…`, `wss://…` or `unix:///path`. */
  readonly connect?: (ConnectOptions & { readonly url: string | URL }) | undefined;
  /** Opens connections in a custom way. */
  readonly transport?: CustomTransport | undefined;
  /** How long an idle codex is kept; false keeps it until `close`. Default: 10 minutes; 5 seconds for `connect`. */
  readonly idleShutdownMs?: number | false | undefined;
  /** How many idle threads are kept for their next turn. Default: 64; 2 for threads with MCP servers. */
  readonly idleThreads?: number | undefined;
  /** How long an idle thread is kept. Default: 10 minutes; 5 seconds with MCP servers. */
  readonly idleThreadMs?: number | undefined;
  /** How many threads are started in advance for repeated calls of one kind; 0 starts none. Default: 8. */
  readonly prestartedThreads?: number | undefined;
  /** Receives every message to and from Codex. Messages contain prompts and credentials: log them with care. */
  readonly onPacket?: CodexOptions["onPacket"];
  /** Receives Codex's log (`debug`) and the warnings of turns (`warn`). Default: none. */
  readonly logger?: CodexLogger | undefined;
  /** Downloads the files of prompts. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Checks the settings of a provider. An unknown key is an error. */
export function readSettings(settings: CodexSettings): CodexSettings {
  return checked(schema, settings, { what: "The settings of createCodex", keys: SETTINGS_KEYS });
}

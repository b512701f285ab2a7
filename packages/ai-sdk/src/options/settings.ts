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
  readyThreads: count.optional(),
  onPacket: z
    .custom<NonNullable<CodexOptions["onPacket"]>>(
      (value) => typeof value === "function",
      "must be a function",
    )
    .optional(),
  logger: someFunctionsOf<CodexLogger>({ debug: true, warn: true }).optional(),
  fetch: z.custom<typeof fetch>((value) => typeof value === "function", "must be a function").optional(),
};

const schema = z
  .strictObject(fields)
  .refine(
    ({ codex, launch, connect, transport }) =>
      [codex, launch, connect, transport].filter(Boolean).length <= 1,
    { error: "Give one of codex, launch, connect and transport." },
  );

/** A way to an app-server of the caller's own: a tunnel, a container, a test. */
export interface CustomTransport extends CodexOptions {
  /** Opens a connection; called again after one was lost. */
  readonly open: Parameters<typeof Codex.over>[0];
  /** Whether the server shares this machine's files. Default: false. */
  readonly local?: boolean | undefined;
}

/** Receives what the provider and Codex report beside results. `console` is one. */
export interface CodexLogger {
  debug?(message: string): void;
  warn?(message: string): void;
}

/** How a provider reaches Codex, and what its threads and turns are like unless a model or a call says otherwise. */
export interface CodexSettings extends CodexModelSettings {
  /** A Codex of your own; the provider does not close it. */
  readonly codex?: Codex | undefined;
  /** How the provider launches a codex, at its first call. Default: with the defaults of `Codex.launch`. */
  readonly launch?: LaunchOptions | undefined;
  /** A running server: `ws://…`, `wss://…` or `unix:///path`. */
  readonly connect?: (ConnectOptions & { readonly url: string | URL }) | undefined;
  /** A connection of your own making. */
  readonly transport?: CustomTransport | undefined;
  /** How long a codex without work is kept; false keeps it until `close`. Default: 10 minutes; 5 seconds for `connect`. */
  readonly idleShutdownMs?: number | false | undefined;
  /** How many threads without a turn are kept for their next one. Default: 64; 2 of those with MCP servers. */
  readonly idleThreads?: number | undefined;
  /** How long such a thread is kept. Default: 10 minutes; 5 seconds with MCP servers. */
  readonly idleThreadMs?: number | undefined;
  /** How many threads are started ahead for repeated calls of one kind; 0 starts none. Default: 8. */
  readonly readyThreads?: number | undefined;
  /** Receives every message to and from Codex. They hold prompts and credentials: log them with care. */
  readonly onPacket?: CodexOptions["onPacket"];
  /** Receives Codex's log (`debug`) and the warnings of turns (`warn`). Default: none. */
  readonly logger?: CodexLogger | undefined;
  /** Downloads the files of prompts. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Checks the settings of a provider. An unknown key is an error. */
export function readSettings(settings: CodexSettings): CodexSettings {
  return checked(schema, settings, { what: "The settings of createCodex", keys: Object.keys(fields) });
}

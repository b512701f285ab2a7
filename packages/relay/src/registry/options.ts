import { homedir } from "node:os";
import { join } from "node:path";
import { DEFAULT_STORE_LIMITS, type StoreLimits } from "@codexkit/store";
import type { Logger } from "pino";
import { z } from "zod";
import { RelayError } from "../errors.ts";
import { REGISTRY_LIMITS, type RegistryLimits } from "./limits.ts";

export type RegistryLogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface RegistryOptions {
  /** A folder for SQLite, or the `postgres://` URL of a dedicated database. Default: `~/.codexkit/registry`. */
  readonly store?: string;
  /** Default: `127.0.0.1`. */
  readonly host?: string;
  /** 0 selects a free port. Default: 4400. */
  readonly port?: number;
  /** A certificate and its key, in PEM. Default: plain HTTP, for loopback or behind a proxy that terminates TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /**
   * The URL at which executors and harnesses reach this registry, such as that of a load balancer. Default: the listening
   * address.
   */
  readonly publicUrl?: string;
  /** The URL at which other registries on the same store reach this one. Default: the listening address. */
  readonly nodeUrl?: string;
  /** A file for the first token of an empty store, with the scope `admin`. Default: `admin-token` in the folder of the store. */
  readonly tokenFile?: string;
  /**
   * A file for the audit log. Default: `audit.log` in the folder of the store. With Postgres, audit events are written to the
   * log.
   */
  readonly auditFile?: string;
  /** A level, for JSON lines on standard error, or a logger. Default: `warn`. */
  readonly logger?: RegistryLogLevel | Logger;
  readonly limits?: Partial<RegistryLimits> & { readonly store?: Partial<StoreLimits> };
}

/** Options with defaults applied. */
export interface ResolvedOptions {
  readonly location: string;
  /** The folder of the store. Undefined for Postgres. */
  readonly folder: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly publicUrl: string | undefined;
  readonly nodeUrl: string | undefined;
  readonly tokenFile: string | undefined;
  readonly auditFile: string | undefined;
  readonly logger: RegistryLogLevel | Logger;
  readonly limits: RegistryLimits;
  readonly storeLimits: Partial<StoreLimits> | undefined;
}

const text = z.string().min(1);
const httpUrl = z
  .url({ protocol: /^https?$/, error: "Expected a URL with http:// or https://." })
  .refine((value) => !/[?#@]/.test(value), "Expected a URL without a query, a fragment and a user.");
const amount = z.custom<number>(
  (value) => typeof value === "number" && value > 0,
  "Expected a number above 0.",
);

const schema = z.strictObject({
  store: text.optional(),
  host: text.optional(),
  port: z.int().min(0).max(65_535).optional(),
  tls: z.strictObject({ cert: text, key: text }).optional(),
  publicUrl: httpUrl.optional(),
  nodeUrl: httpUrl.optional(),
  tokenFile: text.optional(),
  auditFile: text.optional(),
  logger: z
    .union([
      z.enum(["debug", "info", "warn", "error", "silent"]),
      z.custom<object>((value) => typeof value === "object" && value !== null && "info" in value),
    ])
    .optional(),
  limits: z
    .strictObject({
      ...amounts(REGISTRY_LIMITS),
      store: z.strictObject(amounts(DEFAULT_STORE_LIMITS)).optional(),
    })
    .optional(),
} satisfies Record<keyof RegistryOptions, z.ZodType>);

/** Validates options and applies defaults. Throws `bad_option`. */
export function resolveOptions(options: RegistryOptions): ResolvedOptions {
  const result = schema.safeParse(options);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) =>
      [["options", ...path].join("."), message].join(": "),
    );
    throw new RelayError("bad_option", problems.join("\n"));
  }
  const { store: location = join(homedir(), ".codexkit", "registry"), host = "127.0.0.1" } = options;
  if ((host === "0.0.0.0" || host === "::") && options.publicUrl === undefined) {
    throw new RelayError(
      "bad_option",
      `options.publicUrl: Executors and harnesses can't connect to ${host}. Set the URL at which they reach this registry (--public-url).`,
    );
  }
  const folder = /^postgres(?:ql)?:\/\//.test(location) ? undefined : location;
  const { store: storeLimits, ...limits } = options.limits ?? {};
  return {
    location,
    folder,
    host,
    port: options.port ?? 4400,
    tls: options.tls,
    publicUrl: options.publicUrl?.replace(/\/+$/, ""),
    nodeUrl: options.nodeUrl?.replace(/\/+$/, ""),
    tokenFile: options.tokenFile ?? (folder && join(folder, "admin-token")),
    auditFile: options.auditFile ?? (folder && join(folder, "audit.log")),
    logger: options.logger ?? "warn",
    limits: { ...REGISTRY_LIMITS, ...limits },
    storeLimits,
  };
}

function amounts(defaults: object): Record<string, z.ZodOptional<typeof amount>> {
  return Object.fromEntries(Object.keys(defaults).map((name) => [name, amount.optional()]));
}

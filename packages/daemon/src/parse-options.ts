import { DEFAULT_STORE_LIMITS } from "@codexkit/store";
import { z } from "zod";
import { sessionSettings } from "./api/settings.ts";
import { RUNNER_LIMITS } from "./codex/limits.ts";
import type { DaemonCodexOptions } from "./codex/app-server.ts";
import type { DaemonOptions } from "./daemon-options.ts";
import { DaemonError } from "./errors.ts";
import { FILE_LIMITS } from "./files/limits.ts";
import { FLEET_LIMITS } from "./fleet/limits.ts";
import { parseNodeUrl } from "./fleet/node-url.ts";
import { DEFAULT_JOURNAL_LIMITS } from "./journal/limits.ts";
import { DEFAULT_ROLLOUT_LIMITS } from "./rollouts/limits.ts";
import { HTTP_LIMITS } from "./limits.ts";
import { TERMINAL_LIMITS } from "./terminals/limits.ts";
import { THREAD_LIMITS } from "./threads/limits.ts";
import { WEBHOOK_LIMITS } from "./webhooks/limits.ts";
import { nodeLabel } from "./api/parameters.ts";

/** Infinity switches a limit off. */
const amount = z.custom<number>(
  (value) => typeof value === "number" && value >= 0,
  "Expected a number that is not negative.",
);
const text = z.string().min(1);
const given = z.unknown().optional();

const codexShape = {
  codexPath: given,
  wrapperArgs: given,
  env: given,
  inheritEnv: given,
  config: given,
  configOverrides: given,
  enable: given,
  disable: given,
  onStderr: given,
} satisfies Record<keyof DaemonCodexOptions, z.ZodType>;

const shape = {
  stateFolder: text.optional(),
  store: text.optional(),
  roots: z.array(text).readonly().optional(),
  defaults: sessionSettings.partial().optional(),
  auth: z.enum(["tokens", "none"]).optional(),
  allowedHosts: z
    .array(z.string().regex(/^[^\s/:]+$/, "Expected a host name without scheme and port."))
    .readonly()
    .optional(),
  allowedOrigins: z
    .array(z.string().refine(isOrigin, "Expected an origin without a path, such as https://app.example."))
    .readonly()
    .optional(),
  allowPrivateAddresses: z.boolean().optional(),
  nodeName: text.optional(),
  labels: z.array(nodeLabel).readonly().optional(),
  advertiseUrl: text
    .refine(
      (value) => parseNodeUrl(value) !== undefined,
      "Expected an http or https URL without credentials, path and query, such as http://10.0.0.7:4100.",
    )
    .optional(),
  capacity: z.int().positive().optional(),
  sharedRoots: z.record(nodeLabel, text).optional(),
  apiKey: text.optional(),
  userCodexHome: text.optional(),
  cliHome: z.union([text, z.literal(false)]).optional(),
  replay: text.optional(),
  staticFiles: text.optional(),
  // The SDK checks their values.
  codex: z.strictObject(codexShape).optional(),
  limits: z
    .strictObject({
      http: amounts(HTTP_LIMITS),
      runner: amounts(RUNNER_LIMITS),
      files: amounts(FILE_LIMITS),
      store: amounts(DEFAULT_STORE_LIMITS),
      journal: amounts(DEFAULT_JOURNAL_LIMITS),
      rollouts: amounts(DEFAULT_ROLLOUT_LIMITS),
      terminals: amounts(TERMINAL_LIMITS),
      webhooks: amounts(WEBHOOK_LIMITS),
      threads: amounts(THREAD_LIMITS),
      fleet: amounts(FLEET_LIMITS),
    } satisfies Record<keyof NonNullable<DaemonOptions["limits"]>, z.ZodType>)
    .optional(),
  retention: z
    .strictObject({
      everyMs: amount.optional(),
      mergeAfterMs: amount.optional(),
      maxAgeMs: amount.optional(),
      maxBytes: amount.optional(),
    } satisfies Record<keyof NonNullable<DaemonOptions["retention"]>, z.ZodType>)
    .optional(),
  drainMs: amount.optional(),
  logger: z
    .union([
      z.enum(["silent", "debug", "info", "warn", "error"]),
      z.custom<object>((value) => typeof value === "object" && value !== null && "info" in value),
    ])
    .optional(),
} satisfies Record<keyof DaemonOptions, z.ZodType>;

const options = z
  .strictObject(shape)
  .refine(
    ({ replay, store, stateFolder }) =>
      replay === undefined || (store === undefined && stateFolder === undefined),
    { path: ["replay"], error: "A replay has a temporary store: `store` and `stateFolder` can't be set." },
  );

/**
 * Rejects options that the type does not allow, with `bad_options`: a misspelt `roots` or `auth` would otherwise silently leave
 * the default in place.
 */
export function checkOptions(value: DaemonOptions): void {
  const result = options.safeParse(value);
  if (result.success) return;
  const problems = result.error.issues.map(({ path, message }) =>
    [["options", ...path].join("."), message].join(": "),
  );
  throw new DaemonError("bad_options", problems.join("\n"));
}

function amounts(defaults: object) {
  const names = Object.keys(defaults);
  return z.strictObject(Object.fromEntries(names.map((name) => [name, amount.optional()]))).optional();
}

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

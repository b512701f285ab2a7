import type { Policy } from "@codexkit/approvals";
import type { McpServers } from "codexkit";
import { z } from "zod";
import { type ApprovalSettings, type CodexHandlers, HANDLER_NAMES } from "./approval-settings.ts";
import { AI_SDK_LIMITS } from "../limits.ts";
import { mcpServer } from "./mcp-server-schema.ts";
import { mergeOptions } from "./merge-options.ts";
import { functionsOf } from "./nested-options.ts";
import { checked, sharedOptions } from "./model-options.ts";
import type { SharedOptions } from "./options.ts";
import type { CodexTool } from "../tools/provider-tools.ts";

/** Settings of a provider or of one of its models, including functions. */
export interface CodexModelSettings extends Omit<SharedOptions, "mcpServers"> {
  /** MCP servers for every thread, by name. A call can add others. The user's configuration is not changed. Default: none. */
  readonly mcpServers?: McpServers | undefined;
  /** Decides which approvals are answered automatically. Default: none, so a person is asked about every approval. */
  readonly policy?: Policy | (() => Policy) | undefined;
  /**
   * Functions that answer Codex's requests before the policy is applied or a person is asked. Questions from the model and from
   * MCP servers are answered only by handlers; without a handler they are declined.
   */
  readonly handlers?: CodexHandlers | undefined;
  /** Tools that this program runs during a turn, without ending the step. Default: none. */
  readonly tools?: Readonly<Record<string, CodexTool>> | undefined;
  /** How long a call to one of the `tools` may take. Default: 10 minutes. */
  readonly toolTimeoutMs?: number | undefined;
  /** How long a turn waits for a tool result or a person. Default: 15 minutes. */
  readonly suspendTimeoutMs?: number | undefined;
}

/** Settings for one model's calls. `providerOptions.codex` overrides them. */
export interface CallDefaults {
  readonly options: SharedOptions;
  readonly approvals: ApprovalSettings;
  readonly tools: Readonly<Record<string, CodexTool>>;
  readonly toolTimeoutMs: number | undefined;
  readonly fetch: typeof fetch | undefined;
  /** Receives each warning of a call. */
  readonly onWarning: ((message: string) => void) | undefined;
}

export const milliseconds: z.ZodType<number> = z.number().positive();

export const object = <Type extends object>(): z.ZodType<Type> =>
  z.custom<Type>((value) => typeof value === "object" && value !== null, "must be an object");

export const modelSettings = {
  ...sharedOptions,
  mcpServers: z.record(z.string(), mcpServer).optional() as z.ZodType<McpServers | undefined>,
  policy: z
    .custom<Policy | (() => Policy)>(
      (value) => typeof value === "function" || isPolicy(value),
      "must be a policy from definePolicy (@codexkit/approvals), or a function that returns one",
    )
    .optional(),
  handlers: functionsOf<CodexHandlers>(HANDLER_NAMES).optional(),
  tools: z
    .record(
      z.string(),
      z.custom<CodexTool>(
        (value) =>
          typeof value === "object" &&
          value !== null &&
          "inputSchema" in value &&
          isFunction(value, "execute"),
        "must have an `inputSchema` and an `execute` function",
      ),
    )
    .optional(),
  toolTimeoutMs: milliseconds.optional(),
  suspendTimeoutMs: milliseconds.optional(),
};

const schema = z.strictObject(modelSettings);

export function readModelSettings(settings: CodexModelSettings): CodexModelSettings {
  return checked(schema, settings, { what: "model settings", keys: Object.keys(modelSettings) });
}

/** Merges the provider's and the model's settings. The model's take precedence. */
export function callDefaults(
  provider: CodexModelSettings & Pick<CallDefaults, "fetch" | "onWarning">,
  own: CodexModelSettings,
): CallDefaults {
  return {
    options: mergeOptions(sharedOf(provider), sharedOf(own)),
    approvals: {
      policy: own.policy ?? provider.policy,
      handlers: own.handlers ?? provider.handlers,
      suspendTimeoutMs: own.suspendTimeoutMs ?? provider.suspendTimeoutMs ?? AI_SDK_LIMITS.suspendTimeoutMs,
    },
    tools: { ...provider.tools, ...own.tools },
    toolTimeoutMs: own.toolTimeoutMs ?? provider.toolTimeoutMs,
    fetch: provider.fetch,
    onWarning: provider.onWarning,
  };
}

const SHARED_KEYS = Object.keys(sharedOptions) as (keyof SharedOptions)[];

function sharedOf(settings: CodexModelSettings): SharedOptions {
  const given = SHARED_KEYS.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]]));
  return Object.fromEntries(given) as SharedOptions;
}

const POLICY_LISTS = ["deny", "ask", "allow", "additionalAllow"];

/** Whether a value has the shape of a policy. Checked without loading `@codexkit/approvals`. */
function isPolicy(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return fields["version"] === 1 && POLICY_LISTS.every((name) => Array.isArray(fields[name]));
}

function isFunction(value: object, key: string): boolean {
  return typeof (value as Readonly<Record<string, unknown>>)[key] === "function";
}

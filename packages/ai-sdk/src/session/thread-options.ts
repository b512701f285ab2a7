import { isDeepStrictEqual } from "node:util";
import type { RunOptions, StartThreadOptions } from "codexkit";
import { approvalHandlers } from "../approval/approval-handlers.ts";
import type { Call } from "../call/read-call.ts";
import type { CodexLanguageModelOptions } from "../options/options.ts";
import type { TurnPartsOptions } from "../stream/turn-parts.ts";
import { threadTools, toolFingerprints } from "./thread-tools.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import { turnSandbox } from "./sandbox-policy.ts";
import type { ServerFacts } from "./server-facts.ts";

type ThreadOptions = Omit<StartThreadOptions, "ephemeral" | "tools">;

/** Returns the call's thread options, for starting, resuming or copying a thread. */
export function threadOptions(call: Call, broker: ClientRequestBroker): ThreadOptions {
  const { model, instructions, options } = call;
  const { cwd, sandbox, approvalPolicy, approvalsReviewer, serviceTier, baseInstructions, mcpServers } =
    options;
  return {
    ...(model !== undefined && { model }),
    ...(instructions !== undefined && { developerInstructions: instructions }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox !== undefined && { sandbox }),
    ...(approvalPolicy !== undefined && { approvalPolicy }),
    ...(approvalsReviewer !== undefined && { approvalsReviewer }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(baseInstructions !== undefined && { baseInstructions }),
    config: threadConfig(options),
    ...(mcpServers !== undefined && {
      mcpServers: mcpServers as NonNullable<StartThreadOptions["mcpServers"]>,
    }),
    handlers: approvalHandlers(call.approvals, broker, cwd),
  };
}

/** Makes Codex unload a released thread immediately, which ends its MCP servers. A stored thread can be loaded again. */
function threadConfig({
  config,
  textVerbosity,
}: CodexLanguageModelOptions): NonNullable<ThreadOptions["config"]> {
  return {
    thread_unload_delay_secs: 0,
    ...(textVerbosity !== undefined && { model_verbosity: textVerbosity }),
    ...config,
  };
}

/** Returns the call's options for a new thread. */
export function freshThreadOptions(call: Call, broker: ClientRequestBroker): StartThreadOptions {
  return {
    ...threadOptions(call, broker),
    tools: threadTools(call, broker),
    ephemeral: call.options.persist !== true,
    // A step with tool calls is complete when the response ends, which only raw events show.
    ...(call.tools.length > 0 && { experimentalRawEvents: true }),
  };
}

/** Returns a key that is equal for calls whose new threads are interchangeable. */
export function threadKind(call: Call): string {
  const { model, instructions, options } = call;
  const { cwd, sandbox, approvalPolicy, approvalsReviewer, serviceTier, baseInstructions } = options;
  const { config, textVerbosity, mcpServers, persist } = options;
  const asked = [cwd, sandbox, approvalPolicy, approvalsReviewer, serviceTier, baseInstructions];
  const more = [config, textVerbosity, mcpServers, persist];
  return JSON.stringify([model, instructions, asked, more, [...toolFingerprints(call)]]);
}

/** Settings of a turn that also apply to the later turns of its thread. */
export type LastingSettings = Pick<
  CodexLanguageModelOptions,
  "cwd" | "approvalPolicy" | "approvalsReviewer" | "serviceTier"
> & {
  readonly model?: string | undefined;
  readonly sandbox?: CodexLanguageModelOptions["sandbox"] | CodexLanguageModelOptions["sandboxPolicy"];
};

export function lastingSettings({ model, options }: Call): LastingSettings {
  const { cwd, sandbox, sandboxPolicy, approvalPolicy, approvalsReviewer, serviceTier } = options;
  return { model, cwd, sandbox: sandboxPolicy ?? sandbox, approvalPolicy, approvalsReviewer, serviceTier };
}

/** Returns a new thread's settings. When a thread is started, only a sandbox name can be set, not a policy. */
export function initialSettings(call: Call): LastingSettings {
  const settings = lastingSettings(call);
  return { ...settings, sandbox: call.options.sandboxPolicy === undefined ? settings.sandbox : undefined };
}

/** Settings that can't change during a turn. */
export type TurnSettings = Readonly<Record<string, unknown>>;

export function turnSettings(call: Call): TurnSettings {
  const { effort, summary, config, mcpServers, baseInstructions, textVerbosity } = call.options;
  const tools = Object.fromEntries(toolFingerprints(call));
  return {
    ...lastingSettings(call),
    effort,
    summary,
    config,
    mcpServers,
    baseInstructions,
    textVerbosity,
    tools,
  };
}

/** Returns the options for converting the events of the call's turn. */
export function partsOptions({
  options,
  providerTools,
}: Call): Pick<TurnPartsOptions, "plans" | "providerTools"> {
  return { plans: options.plans ?? true, providerTools: new Set(providerTools.map(({ name }) => name)) };
}

/** Returns the options for a turn: only those that differ from the thread's settings. */
export async function runOptions(
  call: Call,
  has: LastingSettings,
  facts: () => Promise<ServerFacts>,
): Promise<RunOptions<unknown>> {
  const { effort, summary } = call.options;
  const { sandbox, ...plain } = changes(lastingSettings(call), has);
  const policy =
    sandbox === undefined ? undefined : turnSandbox(call.options, (await facts()).sandboxWorkspaceWrite);
  return {
    ...(plain as RunOptions<unknown>),
    whenBusy: "wait",
    ...(policy !== undefined && { sandboxPolicy: policy }),
    ...(effort !== undefined && { effort }),
    ...(summary !== undefined && { summary }),
    ...(call.format.schema && { outputSchema: call.format.schema }),
  };
}

function changes(wanted: LastingSettings, has: LastingSettings): LastingSettings {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, has[name as keyof LastingSettings]),
    ),
  );
}

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

/** How a thread for this call is set up, whether it starts, resumes or is a copy. */
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

/** A thread that this provider releases is unloaded at once, which ends its MCP servers: it returns from what is stored. */
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

/** The same for a thread of this call alone. */
export function freshThreadOptions(call: Call, broker: ClientRequestBroker): StartThreadOptions {
  return {
    ...threadOptions(call, broker),
    tools: threadTools(call, broker),
    ephemeral: call.options.persist !== true,
    // Only raw events show where a response ends, which decides when a step with tool calls is complete.
    ...(call.tools.length > 0 && { experimentalRawEvents: true }),
  };
}

/** The same text for calls whose fresh threads are alike. */
export function threadKind(call: Call): string {
  const { model, instructions, options } = call;
  const { cwd, sandbox, approvalPolicy, approvalsReviewer, serviceTier, baseInstructions } = options;
  const { config, textVerbosity, mcpServers, persist } = options;
  const asked = [cwd, sandbox, approvalPolicy, approvalsReviewer, serviceTier, baseInstructions];
  const more = [config, textVerbosity, mcpServers, persist];
  return JSON.stringify([model, instructions, asked, more, [...toolFingerprints(call)]]);
}

/** Settings that stay with a thread from the turn that they are given to. */
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

/** What a thread has from its start: only the name of a sandbox can be given then. */
export function initialSettings(call: Call): LastingSettings {
  const settings = lastingSettings(call);
  return { ...settings, sandbox: call.options.sandboxPolicy === undefined ? settings.sandbox : undefined };
}

/** What holds from a turn's start to its end. */
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

/** How the events of a call's turn are shown. */
export function partsOptions({
  options,
  providerTools,
}: Call): Pick<TurnPartsOptions, "plans" | "providerTools"> {
  return { plans: options.plans ?? true, providerTools: new Set(providerTools.map(({ name }) => name)) };
}

/** What a turn is given beside its input: only what the thread does not have already. */
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

import { isDeepStrictEqual } from "node:util";
import type { RunOptions, StartThreadOptions } from "codexkit";
import { type ApprovalSettings, approvalHandlers } from "../approval/approval-handlers.ts";
import type { Call } from "../model/read-call.ts";
import type { CodexLanguageModelOptions } from "../model/model-options.ts";
import { clientTools, toolFingerprints } from "../tools/client-tools.ts";
import type { AskDesk } from "./ask-desk.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";

type ThreadOptions = Omit<StartThreadOptions, "ephemeral" | "tools">;

/** How a thread for this call is set up, whether it starts, resumes or is a copy. */
export function threadOptions(call: Call, desk: AskDesk, approvals: ApprovalSettings): ThreadOptions {
  const { model, instructions, options } = call;
  const { cwd, sandbox, approvalPolicy, serviceTier, baseInstructions, config, mcpServers } = options;
  return {
    ...(model !== undefined && { model }),
    ...(instructions !== undefined && { developerInstructions: instructions }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox !== undefined && { sandbox }),
    ...(approvalPolicy !== undefined && { approvalPolicy }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(baseInstructions !== undefined && { baseInstructions }),
    ...(config !== undefined && { config }),
    ...(mcpServers !== undefined && { mcpServers }),
    handlers: approvalHandlers(approvals, desk, cwd),
  };
}

/** The same for a thread of this call alone. One that is let go is of no more use to anybody: Codex need not keep it. */
export function freshThreadOptions(
  call: Call,
  desk: AskDesk,
  approvals: ApprovalSettings,
): StartThreadOptions {
  const options = threadOptions(call, desk, approvals);
  const tools = clientTools(call.tools, desk);
  if (call.options.persist === true) return { ...options, tools, ephemeral: false };
  return {
    ...options,
    tools,
    ephemeral: true,
    config: { thread_unload_delay_secs: 0, ...options.config },
  };
}

/** The same text for calls whose fresh threads are alike. */
export function threadKind({ model, instructions, options, tools }: Call): string {
  const { cwd, sandbox, approvalPolicy, serviceTier, baseInstructions, config, mcpServers, persist } =
    options;
  const asked = { cwd, sandbox, approvalPolicy, serviceTier, baseInstructions, config, mcpServers, persist };
  return JSON.stringify([model, instructions, asked, [...toolFingerprints(tools)]]);
}

/** Settings that stay with a thread from the turn that they are given to. */
export type LastingSettings = Pick<
  CodexLanguageModelOptions,
  "cwd" | "sandbox" | "approvalPolicy" | "serviceTier"
> & { readonly model?: string | undefined };

export function lastingSettings({ model, options }: Call): LastingSettings {
  const { cwd, sandbox, approvalPolicy, serviceTier } = options;
  return { model, cwd, sandbox, approvalPolicy, serviceTier };
}

/** What a turn is given beside its input: what the thread has already need not be said again. */
export function runOptions(call: Call, has: LastingSettings): RunOptions<unknown> {
  const { effort, summary } = call.options;
  const wanted = lastingSettings(call);
  const { sandbox, ...plain } = Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, has[name as keyof LastingSettings]),
    ),
  ) as LastingSettings;
  return {
    ...(plain as RunOptions<unknown>),
    whenBusy: "wait",
    ...(sandbox !== undefined && { sandboxPolicy: sandboxPolicy(sandbox) }),
    ...(effort !== undefined && { effort }),
    ...(summary !== undefined && { summary }),
    ...(call.format.schema && { outputSchema: call.format.schema }),
  };
}

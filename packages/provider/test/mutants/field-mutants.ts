import type { AgentSpec, IgnoredField, SpecField } from "../../src/index.ts";
import { SPEC_FIELDS } from "../../src/index.ts";
import {
  events,
  handles,
  HANGS,
  type Mutant,
  type Mutation,
  ofKind,
  overrideHandle,
  overriding,
  overridingHandles,
  specs,
} from "./mutate.ts";

/** Faults in the fields of a spec: limits that are not enforced, fields without effect, wrong lists of ignored fields. */
export const FIELD_MUTANTS: readonly Mutant[] = [
  {
    fault: "ignores timeoutMs",
    mutate: drop("timeoutMs"),
    caughtBy: "deadline-is-kept",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores timeoutMs of resumed sessions",
    mutate: drop("timeoutMs", "resume"),
    caughtBy: "deadline-is-kept-resumed",
    reason: /took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores maxTurns",
    mutate: drop("maxTurns"),
    caughtBy: "max-turns-are-kept",
    reason: /should end with "result max_turns", but ended with "result success"/,
  },
  {
    fault: "ignores maxTurns of resumed sessions",
    mutate: drop("maxTurns", "resume"),
    caughtBy: "max-turns-are-kept-resumed",
    reason: /should end with "result max_turns"/,
  },
  {
    fault: "ignores maxTokens",
    mutate: drop("maxTokens"),
    caughtBy: "max-tokens-are-kept",
    reason: /should end with "result budget_exceeded", but ended with "result success"/,
  },
  {
    fault: "ends any session with maxTokens",
    mutate: specs((spec) => (spec.maxTokens === undefined ? spec : { ...spec, maxTokens: 1 })),
    caughtBy: "max-tokens-are-kept",
    reason: /should end with "result success", but ended with "result budget_exceeded"/,
  },
  {
    fault: "ignores maxCostUsd",
    mutate: drop("maxCostUsd"),
    caughtBy: "max-cost-is-kept",
    reason: /should end with "result budget_exceeded"/,
  },
  {
    fault: "enforces maxCostUsd but does not report the cost",
    mutate: events((event) => {
      if (!("cost" in event)) return [event];
      const { usd: _usd, ...cost } = event.cost;
      return [{ ...event, cost }];
    }),
    caughtBy: "max-cost-is-kept",
    reason: /the cost of the session does not report it/,
  },
  {
    fault: "ends a session that exceeded its budget with another subtype",
    mutate: ofKind("result", (result) => [
      result.errorSubtype === "budget_exceeded" ? { ...result, errorSubtype: "token_limit" } : result,
    ]),
    caughtBy: "max-tokens-are-kept",
    reason: /ended with "result token_limit"/,
  },
  {
    fault: "ignores openTimeoutMs",
    mutate: drop("openTimeoutMs"),
    caughtBy: "open-timeout-is-kept",
    reason: /spawn\(\) that takes too long took longer/,
    limits: HANGS,
  },
  {
    fault: "ignores openTimeoutMs of resumed sessions",
    mutate: drop("openTimeoutMs", "resume"),
    caughtBy: "open-timeout-is-kept-resumed",
    reason: /resume\(\) that takes too long took longer/,
    limits: HANGS,
  },
  {
    fault: "accepts env but does not use it",
    mutate: drop("env"),
    caughtBy: "env-is-used",
    reason: /should see "nonce-.*reported:\s+not set/,
  },
  {
    fault: "does not use env of a resumed session",
    mutate: drop("env", "resume"),
    caughtBy: "env-is-used-resumed",
    reason: /should see "nonce-/,
  },
  {
    fault: "does not call onProcessSpawned",
    mutate: drop("onProcessSpawned"),
    caughtBy: "process-id-is-reported",
    reason: /was not called before the first event/,
  },
  {
    fault: "does not call onProcessSpawned for a resumed session",
    mutate: drop("onProcessSpawned", "resume"),
    caughtBy: "process-id-is-reported-resumed",
    reason: /was not called/,
  },
  {
    fault: "reports a PID that does not exist",
    mutate: specs(({ onProcessSpawned, ...spec }) =>
      onProcessSpawned ? { ...spec, onProcessSpawned: () => onProcessSpawned(2 ** 30) } : spec,
    ),
    caughtBy: "process-id-is-reported",
    reason: /got 1073741824, which is not the PID of a running process/,
  },
  {
    fault: "reports a PID that is not a number",
    mutate: specs(({ onProcessSpawned, ...spec }) =>
      onProcessSpawned ? { ...spec, onProcessSpawned: () => onProcessSpawned(Number.NaN) } : spec,
    ),
    caughtBy: "process-id-is-reported",
    reason: /got NaN/,
  },
  {
    fault: "lists fields as ignored that were not set",
    mutate: receipts((ignored) => [...ignored, { field: "effort", reason: "it has none" }]),
    caughtBy: "receipt-is-valid",
    reason: /has effort, which was not set/,
  },
  {
    fault: "lists unknown fields as ignored",
    mutate: receipts((ignored) => [...ignored, { field: "colour" as SpecField, reason: "it has none" }]),
    caughtBy: "receipt-is-valid",
    reason: /"colour", which is not a field of AgentSpec/,
  },
  {
    fault: "lists ignored fields without a reason",
    mutate: receipts((ignored) => ignored.map(({ field }) => ({ field, reason: "" }))),
    caughtBy: "receipt-is-valid",
    reason: /has no reason for subAgentProvider/,
  },
  {
    fault: "lists an ignored field twice",
    mutate: receipts((ignored) => [...ignored, ...ignored]),
    caughtBy: "receipt-is-valid",
    reason: /has a field twice/,
  },
  {
    fault: "ignores required fields",
    mutate: specs(({ required: _required, ...spec }) => spec),
    caughtBy: "required-is-refused",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "ignores required fields of a resumed session",
    mutate: specs(({ required, ...spec }, by) => (by === "spawn" && required ? { ...spec, required } : spec)),
    caughtBy: "required-is-refused-resumed",
    reason: /"unsupported", but it was accepted/,
  },
  {
    fault: "claims tool plugins but starts no server",
    mutate: ofKind("tool_use", (use) => [{ ...use, toolCategory: "other" }]),
    caughtBy: "server-is-used",
    reason: /no MCP tool was used/,
  },
  {
    fault: "has a server whose tools fail",
    mutate: ofKind("tool_result", (result) => [{ ...result, isError: true }]),
    caughtBy: "server-is-used",
    reason: /the MCP tool did not succeed/,
  },
  {
    fault: "allows what permissionConfig denies",
    mutate: specs(({ permissionConfig: _config, ...spec }) => spec),
    caughtBy: "permission-is-answered",
    reason: /with "deny" there should be an approval_denied/,
  },
  {
    fault: "denies what permissionConfig allows",
    mutate: specs((spec) => ({ ...spec, permissionConfig: { defaultDecision: "deny" } })),
    caughtBy: "permission-is-answered",
    reason: /with "allow" there should be no approval_denied/,
  },
  {
    fault: "denies without reporting it",
    mutate: ofKind("system", (event) => (event.subtype === "approval_denied" ? [] : [event])),
    caughtBy: "permission-is-answered",
    reason: /with "deny" there should be an approval_denied/,
  },
  {
    fault: "reports events of subagents as the session's own",
    mutate: events(({ ...event }) => {
      delete (event as { subagent?: unknown }).subagent;
      return [event];
    }),
    caughtBy: "subagents-are-reported",
    reason: /no event has a `subagent`/,
  },
  {
    fault: "reports an unknown parent of subagents",
    mutate: events((event) =>
      "subagent" in event && event.subagent
        ? [{ ...event, subagent: { ...event.subagent, parentId: "missing" } }]
        : [event],
    ),
    caughtBy: "subagents-are-reported",
    reason: /has the unknown parent "missing"/,
  },
  {
    fault: "claims effort but ignores it",
    mutate: ignoring("effort"),
    caughtBy: "field-effort",
    reason: /supportsReasoningEffort is true, but effort is ignored/,
  },
  {
    fault: "honours tool lists although the capability is false",
    mutate: overriding((provider) => ({
      capabilities: { ...provider.capabilities, acceptsAllowedToolsList: false },
    })),
    caughtBy: "field-allowedTools",
    reason: /acceptsAllowedToolsList is false, but allowedTools is honoured/,
  },
  {
    fault: "ignores subAgentProvider when it is required",
    mutate: specs(({ required: _required, ...spec }) => spec),
    caughtBy: "field-subAgentProvider",
    reason: /subAgentProvider, required should be refused with "unsupported"/,
  },
  // For each field: it is honoured, but ignored when it is required.
  ...SPEC_FIELDS.filter((field) => field !== "subAgentProvider").map((field): Mutant => ({
    fault: `honours ${field}, and ignores it when it is required`,
    mutate: handles((handle, { spec }) =>
      spec.required?.includes(field)
        ? overrideHandle(handle, { ignored: [{ field, reason: "it is not supported" }] })
        : handle,
    ),
    caughtBy: `field-${field}`,
    reason: /is honoured, but ignored when it is required/,
  })),
];

/** Drops a field without listing it as ignored. */
function drop(field: SpecField, only?: "resume"): Mutation {
  return specs((spec, by) => {
    if (only && by !== only) return spec;
    const { [field]: _dropped, ...rest } = spec;
    return rest as AgentSpec;
  });
}

/** Drops a field and lists it as ignored. */
function ignoring(field: SpecField): Mutation {
  return handles((handle, { spec }) =>
    spec[field] === undefined
      ? handle
      : overrideHandle(handle, { ignored: [...handle.ignored, { field, reason: "it has none" }] }),
  );
}

/** Changes the list of ignored fields, including the one in init. */
function receipts(change: (ignored: readonly IgnoredField[]) => readonly IgnoredField[]): Mutation {
  return overridingHandles((handle) => ({ ignored: change(handle.ignored) }));
}

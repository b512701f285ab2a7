import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import type { AgentCapabilities } from "../../contract/capabilities.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type Check, notVerified } from "../harness/check.ts";
import { assertThat } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

/** Harmless values for every field. `model` and `providerConfig` depend on the provider. */
const SAMPLES: Partial<AgentSpec> = {
  env: { CODEXKIT_CONFORMANCE: "1" },
  autonomous: true,
  sandboxEnabled: true,
  sandboxLevel: "workspace-write",
  allowedTools: ["Bash(git status:*)"],
  disallowedTools: ["Bash(git push:*)"],
  // Exits immediately: a server that does not answer must not delay the session for long.
  mcpStdioServers: [{ name: "conformance", command: process.execPath, args: ["--version"] }],
  mcpToolNames: ["mcp__conformance__none"],
  maxTurns: 50,
  maxTokens: 1_000_000_000,
  maxCostUsd: 1_000_000,
  effort: "low",
  baseInstructions: "Do what you are asked.",
  systemPromptAppend: "Be brief.",
  permissionConfig: { defaultDecision: "deny" },
  codeIntelligenceEnforcement: { enforceUsage: true },
  subAgentProvider: "another",
  timeoutMs: 600_000,
  openTimeoutMs: 600_000,
  onProcessSpawned: () => {},
};

/** Fields that are meaningful only together with another. */
const COMPANIONS: Partial<Record<SpecField, Partial<AgentSpec>>> = {
  sandboxLevel: { sandboxEnabled: true },
  mcpToolNames: { mcpStdioServers: SAMPLES.mcpStdioServers },
};

interface FieldFlag {
  readonly flag: keyof AgentCapabilities;
  /** Whether the field must be ignored if the flag is false. */
  readonly denies: boolean;
}

const FLAGS: Partial<Record<SpecField, readonly FieldFlag[]>> = {
  effort: [{ flag: "supportsReasoningEffort", denies: true }],
  baseInstructions: [{ flag: "needsBaseInstructions", denies: false }],
  permissionConfig: [{ flag: "needsPermissionConfig", denies: false }],
  codeIntelligenceEnforcement: [{ flag: "supportsCodeIntelligenceEnforcement", denies: true }],
  allowedTools: [{ flag: "acceptsAllowedToolsList", denies: true }],
  disallowedTools: [{ flag: "acceptsAllowedToolsList", denies: true }],
  mcpStdioServers: [
    { flag: "acceptsMcpServerSpec", denies: true },
    { flag: "supportsToolPlugins", denies: true },
  ],
};

/** One check per field of the spec: honoured, or listed as ignored and refused when it is required. */
export const FIELD_CHECKS: readonly Check[] = SPEC_FIELDS.map((field) => ({
  id: `field-${field}`,
  tier: "adaptation-receipt",
  title: `honours ${field}, or lists it as ignored and refuses it when it is required`,
  run: async (context) => {
    const base = context.scenarios.works();
    const value = context.samples?.[field] ?? base[field] ?? SAMPLES[field];
    if (value === undefined) throw notVerified(`there is no sample for ${field}`);
    const spec = { ...base, ...COMPANIONS[field], [field]: value };
    const ignored = await isIgnored(context, spec, field);
    checkFlags(context, field, ignored);
    const required = { ...spec, required: [field] };
    if (ignored)
      return context.expectRefusal(`${field}, required`, ["unsupported"], () =>
        context.provider.spawn(required),
      );
    const accepted = await isIgnored(context, required, field);
    assertThat(!accepted, `${field} is honoured, but ignored when it is required`);
  },
}));

async function isIgnored(context: CheckContext, spec: AgentSpec, field: SpecField): Promise<boolean> {
  const session = await context.spawn(spec);
  const receipts = session.handle.ignored.filter((receipt) => receipt.field === field);
  await session.stop();
  assertThat(receipts.length <= 1, `\`ignored\` has ${field} ${receipts.length} times`);
  return receipts.length === 1;
}

function checkFlags({ provider }: CheckContext, field: SpecField, ignored: boolean): void {
  for (const { flag, denies } of FLAGS[field] ?? []) {
    const claimed = provider.capabilities[flag] === true;
    assertThat(!(claimed && ignored), `${flag} is true, but ${field} is ignored`);
    assertThat(claimed || ignored || !denies, `${flag} is false, but ${field} is honoured`);
  }
}

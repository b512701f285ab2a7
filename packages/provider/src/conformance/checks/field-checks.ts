import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import type { AgentCapabilities } from "../../contract/capabilities.ts";
import { SPEC_FIELDS } from "../../contract/parse-spec.ts";
import { type Check, notVerified } from "../check.ts";
import { holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

/** Values that any provider can take, or refuse, without harm. `model` and `providerConfig` are the provider's own. */
const SAMPLES: Partial<AgentSpec> = {
  env: { CODEXKIT_CONFORMANCE: "1" },
  autonomous: true,
  sandboxEnabled: true,
  sandboxLevel: "workspace-write",
  allowedTools: ["Bash(git status:*)"],
  disallowedTools: ["Bash(git push:*)"],
  // Ends at once: a server that does not answer must not hold up the session for long.
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

/** Fields that mean something only beside another. */
const BESIDE: Partial<Record<SpecField, Partial<AgentSpec>>> = {
  sandboxLevel: { sandboxEnabled: true },
  mcpToolNames: { mcpStdioServers: SAMPLES.mcpStdioServers },
};

interface FieldFlag {
  readonly flag: keyof AgentCapabilities;
  /** Whether the field has to be refused where the flag is false; a provider may take more than it needs. */
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

/** Every field of the spec: honoured, or explained in the receipt and refused where it is required. */
export const FIELD_CHECKS: readonly Check[] = SPEC_FIELDS.map((field) => ({
  id: `field-${field}`,
  tier: "adaptation-receipt",
  title: `honours ${field}, or explains why not and refuses it where it is required`,
  run: async (bench) => {
    const base = bench.scenarios.works();
    const value = bench.samples?.[field] ?? base[field] ?? SAMPLES[field];
    if (value === undefined) throw notVerified(`there is no sample for ${field}`);
    const spec = { ...base, ...BESIDE[field], [field]: value };
    const ignored = await isIgnored(bench, spec, field);
    agreesWithFlags(bench, field, ignored);
    const required = { ...spec, required: [field] };
    if (ignored)
      return bench.refuses(`${field}, required`, ["unsupported"], () => bench.provider.spawn(required));
    const accepted = await isIgnored(bench, required, field);
    holds(!accepted, `${field} is honoured, but ignored when it is required`);
  },
}));

async function isIgnored(bench: Workbench, spec: AgentSpec, field: SpecField): Promise<boolean> {
  const session = await bench.spawn(spec);
  const receipts = session.handle.ignored.filter((receipt) => receipt.field === field);
  await session.stop();
  holds(receipts.length <= 1, `the receipt names ${field} ${receipts.length} times`);
  return receipts.length === 1;
}

function agreesWithFlags({ provider }: Workbench, field: SpecField, ignored: boolean): void {
  for (const { flag, denies } of FLAGS[field] ?? []) {
    const claimed = provider.capabilities[flag] === true;
    holds(!(claimed && ignored), `${flag} is claimed, but ${field} is ignored`);
    holds(claimed || ignored || !denies, `${flag} is denied, but ${field} is honoured`);
  }
}

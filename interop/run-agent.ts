import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentSpec } from "@codexkit/provider";
import { AcpProvider } from "@codexkit/provider/acp";
import { type CheckReport, runConformance } from "@codexkit/provider/conformance";
import { tempFolder } from "@codexkit/testing";
import type { AgentDefinition } from "./agent-definition.ts";
import { agentEnvironment } from "./agent-environment.ts";
import type { AgentReport } from "./agent-report.ts";
import { pinnedVersion } from "./install-agents.ts";
import { killMarked, leftoverProcesses } from "./leftover-processes.ts";
import { order } from "./model/model-script.ts";
import { probeAgent } from "./probe-agent.ts";
import { withoutRunValues } from "./without-run-values.ts";

const SERVERS: NonNullable<AgentSpec["mcpStdioServers"]> = [
  {
    name: "tests",
    command: process.execPath,
    args: [fileURLToPath(new URL("../packages/provider/test/mcp-server.ts", import.meta.url))],
  },
];

/** Generous, because these agents take seconds to start, and the machine may be busy. */
const LIMITS = {
  // An agent that spins or hangs fails the current check, and the run continues.
  checkMs: 240_000,
  makeMs: 90_000,
  spawnMs: 90_000,
  sessionMs: 120_000,
  stopMs: 60_000,
  callMs: 60_000,
  shutdownMs: 60_000,
};

export interface RunOptions {
  /** Ends the conformance suite early. */
  readonly signal: AbortSignal;
  readonly onProbe: (what: string) => void;
  readonly onCheck: (check: CheckReport) => void;
}

/** Runs the probes and the conformance suite on one agent. Never rejects: the report has the reason if the agent can't be run. */
export async function runAgent(agent: AgentDefinition, options: RunOptions): Promise<AgentReport> {
  const { name, package: packageName, api, configuration, note, behaviours } = agent;
  await using root = await tempFolder(`interop-${name}`);
  let outcome: AgentReport["outcome"];
  try {
    outcome = await runSuite(agent, root.path, options);
  } catch (error) {
    outcome = { ran: false, reason: error instanceof Error ? error.message : String(error) };
  }
  return withoutRunValues(
    {
      name,
      package: packageName,
      version: pinnedVersion(packageName),
      api,
      configuration,
      note,
      behaviours,
      outcome,
    },
    root.path,
  );
}

async function runSuite(
  agent: AgentDefinition,
  root: string,
  options: RunOptions,
): Promise<AgentReport["outcome"]> {
  const [home, temp, workspace] = ["home", "temp", "workspace"].map((folder) => join(root, folder)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, temp, workspace]) await mkdir(folder);
  await using setup = await agent.setUp({ home });
  const { command, args } = setup;
  const { asksPermission } = agent;
  const launched: { readonly mark: string; readonly provider: AcpProvider }[] = [];
  const make = async (): Promise<AcpProvider> => {
    // Identifies this provider's processes, including those that left its process group.
    const mark = crypto.randomUUID();
    const env = agentEnvironment(home, temp, { ...setup.env, CODEXKIT_INTEROP_MARK: mark });
    const provider = await AcpProvider.launch({
      name: agent.name,
      command,
      args,
      env,
      cwd: workspace,
      asksPermission,
    });
    launched.push({ mark, provider });
    return provider;
  };
  const mode = agent.mode === undefined ? {} : { providerConfig: { mode: agent.mode } };
  const spec = (prompt: string, more: Partial<AgentSpec> = {}): AgentSpec => ({
    prompt,
    cwd: workspace,
    ...mode,
    ...more,
  });
  const findings = await probe();
  const { conforms, tiers, checks } = await runConformance(make, {
    scenarios: {
      says: (words) => spec(order("say", words)),
      works: () => spec(order("work")),
      usesTool: () => spec(order("tool")),
      callsModelTwice: () => spec(order("tool")),
      echoes: () => spec(order("steps")),
      remembers: { store: (words) => spec(order("say", words)), recall: () => spec(order("recall")) },
      usesServer: () => spec(order("server"), { mcpStdioServers: SERVERS }),
      asks: () => spec(order("tool")),
      leavesTrace: { works: () => spec(order("steps")), count: setup.modelCalls },
      leaks: () => {
        const gone = launched.filter(({ provider }) => provider.pid === undefined);
        return leftoverProcesses(gone.map(({ mark }) => mark));
      },
      crash: (provider) => {
        const { pid } = provider as AcpProvider;
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      },
    },
    samples: {
      model: agent.sampleModel ?? "interop",
      providerConfig: { mode: agent.sampleMode },
    },
    limits: LIMITS,
    onCheck: options.onCheck,
    onCheckTimeout: () => killMarked(launched.map(({ mark }) => mark)),
    signal: options.signal,
  });
  const conformance = { conforms, tiers, checks: checks.map(({ tookMs: _tookMs, ...check }) => check) };
  return { ran: true, findings, conformance };

  async function probe(): ReturnType<typeof probeAgent> {
    await using provider = await make();
    return await probeAgent({ provider, workspace, spec, servers: SERVERS, onProbe: options.onProbe });
  }
}

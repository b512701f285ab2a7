import type { AgentHandle, AgentProvider } from "../../contract/agent-provider.ts";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { CheckReport } from "./conformance-report.ts";

/** Creates a provider that is ready to spawn. Called several times; the suite shuts down every provider that it returns. */
export type ProviderFactory = () => AgentProvider | Promise<AgentProvider>;

/**
 * Specs that make the provider's agent do what a check needs. Checks without their scenario are not verified; if the
 * capabilities claim the behaviour, they fail.
 */
export interface ConformanceScenarios {
  /** An agent that says `words` and then succeeds. */
  says(words: string): AgentSpec;
  /** An agent that runs until it is stopped. */
  works(): AgentSpec;
  /** An agent that uses a tool and then succeeds. */
  usesTool?(): AgentSpec;
  /** An agent that calls its model more than once. */
  callsModelTwice?(): AgentSpec;
  /** An agent that runs until text is injected, and then says it. */
  echoes?(): AgentSpec;
  /** `store` gives the agent words; `recall`, the spec for the resume, asks for them. */
  readonly remembers?: { store(words: string): AgentSpec; recall(): AgentSpec };
  /** An agent that uses a tool of a server in `mcpStdioServers`. */
  usesServer?(): AgentSpec;
  /** An agent that asks for permission once and then ends, whatever the answer. The suite sets `permissionConfig`. */
  asks?(): AgentSpec;
  /** An agent that starts a subagent and then succeeds. */
  startsAgent?(): AgentSpec;
  /** An agent that says the value of an environment variable, or prints it with a tool. The suite sets `env`. */
  saysVariable?(name: string): AgentSpec;
  /** An agent that runs until it is stopped, and a counter outside the provider that grows meanwhile. */
  readonly leavesTrace?: { works(): AgentSpec; count(): number | Promise<number> };
  /** An agent whose session takes longer to open than `limits.openMs`, or never opens. */
  opensSlowly?(): AgentSpec;
  /** Kills the agent of a provider with a running session. */
  crash?(provider: AgentProvider, handle: AgentHandle): void | Promise<void>;
  /** Creates a provider that does not share the sessions of the others, as on another machine. */
  otherMachine?: ProviderFactory;
  /** Names the processes, files and sockets that remain of providers that were shut down. Empty if there are none. */
  leaks?(): readonly string[] | Promise<readonly string[]>;
}

/** Time limits of the suite. */
export interface ConformanceLimits {
  readonly checkMs: number;
  readonly makeMs: number;
  readonly spawnMs: number;
  readonly sessionMs: number;
  readonly stopMs: number;
  readonly callMs: number;
  readonly shutdownMs: number;
  readonly deadlineMs: number;
  readonly openMs: number;
  readonly slowReaderMs: number;
  readonly idleMs: number;
  readonly events: number;
}

export const CONFORMANCE_LIMITS: ConformanceLimits = {
  // A whole check: several sessions, one after another. Each wait in it has its own, shorter limit.
  checkMs: 180_000,
  // Starting the agent's process and the handshake, with a margin for slow machines.
  makeMs: 30_000,
  spawnMs: 30_000,
  // Between two events of a task that takes a model seconds.
  sessionMs: 60_000,
  // A provider may ask the agent to stop before it ends the process.
  stopMs: 15_000,
  // A rejection or an injection takes one round trip to the agent.
  callMs: 15_000,
  shutdownMs: 15_000,
  // The `timeoutMs` of the deadline checks. Short, because the suite waits for it.
  deadlineMs: 200,
  // The `openTimeoutMs` of the session that opens too slowly.
  openMs: 200,
  // Between two reads of the slow reader. Long enough for several events to arrive.
  slowReaderMs: 10,
  // How long an agent that should be idle is observed. Several times the interval between two traces.
  idleMs: 500,
  // A stream with more events is considered endless.
  events: 20_000,
};

export interface ConformanceOptions {
  readonly scenarios: ConformanceScenarios;
  /** Sample values for the fields of the spec. The suite has none for `model` and `providerConfig`. */
  readonly samples?: Partial<AgentSpec> | undefined;
  readonly limits?: Partial<ConformanceLimits> | undefined;
  /** Ids of the checks to run, in the suite's order. The others are reported as not verified. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Called when a check has ended, to show the progress of a long run. */
  readonly onCheck?: ((check: CheckReport) => void) | undefined;
  /**
   * Called when a check exceeds `checkMs`, before its sessions are stopped and its provider is shut down. Ends the agent's
   * processes, in case the provider no longer can.
   */
  readonly onCheckTimeout?: ((checkId: string) => void | Promise<void>) | undefined;
  /** Ends the run early. The remaining checks are reported as not verified. */
  readonly signal?: AbortSignal | undefined;
}

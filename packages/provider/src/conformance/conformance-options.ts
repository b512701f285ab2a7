import type { AgentHandle, AgentProvider } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { CheckReport } from "./conformance-report.ts";

/** Makes a provider that is ready to spawn. Called several times: what it makes is shut down by the suite. */
export type ProviderFactory = () => AgentProvider | Promise<AgentProvider>;

/**
 * Specs that make the provider's agent do what a check needs. What is left out can't be verified; where the provider's
 * capabilities claim it, that is a failure.
 */
export interface ConformanceScenarios {
  /** An agent that says `words` and then ends well. */
  says(words: string): AgentSpec;
  /** An agent that works until it is stopped. */
  works(): AgentSpec;
  /** An agent that uses a tool and then ends well. */
  usesTool?(): AgentSpec;
  /** An agent that calls its model more than once. */
  callsModelTwice?(): AgentSpec;
  /** An agent that works until something is injected, and then says it. */
  echoes?(): AgentSpec;
  /** An agent that is told words, and one that is asked for them when the session is resumed. */
  readonly remembers?: { told(words: string): AgentSpec; asked(): AgentSpec };
  /** An agent that uses a tool of a server in `mcpStdioServers`. */
  usesServer?(): AgentSpec;
  /** An agent that asks for permission once and then ends, whatever the answer; `permissionConfig` is the suite's. */
  asks?(): AgentSpec;
  /** An agent that starts another one and then ends well. */
  startsAgent?(): AgentSpec;
  /** An agent that says the value of an environment variable, or prints it with a tool; `env` is the suite's. */
  saysVariable?(name: string): AgentSpec;
  /** An agent that works until it is stopped, and a count outside of the provider that grows while it does. */
  readonly leavesTrace?: { works(): AgentSpec; count(): number | Promise<number> };
  /** An agent whose session takes longer to open than the suite's `openTimeoutMs`, or never opens. */
  opensSlowly?(): AgentSpec;
  /** Kills the agent under a provider with a live handle. */
  crash?(provider: AgentProvider, handle: AgentHandle): void | Promise<void>;
  /** Makes a provider that does not have the sessions of the others, such as one on another machine. */
  elsewhere?: ProviderFactory;
  /** Names what is left of providers that were shut down: processes, files, sockets. Empty if nothing is. */
  leaks?(): readonly string[] | Promise<readonly string[]>;
}

/** Every wait of the suite. */
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
  // An agent's process starts and shakes hands; slow machines get room.
  makeMs: 30_000,
  spawnMs: 30_000,
  // From the first event to the last of a task that a model does in seconds.
  sessionMs: 60_000,
  // The agent's own way to stop may be tried first, and its process ended when it does not heed it.
  stopMs: 15_000,
  // A refusal or an injection needs one exchange with the agent.
  callMs: 15_000,
  shutdownMs: 15_000,
  // The `timeoutMs` that a session is given to see it end: short, because the suite waits for it.
  deadlineMs: 200,
  // The `openTimeoutMs` that a session is given which opens too slowly.
  openMs: 200,
  // Between two reads of the slow reader: long enough for several events to come meanwhile.
  slowReaderMs: 10,
  // How long an agent that has to be idle is watched: several times what it takes between two traces of its work.
  idleMs: 500,
  // A stream that gives more never ends by itself.
  events: 20_000,
};

export interface ConformanceOptions {
  readonly scenarios: ConformanceScenarios;
  /** Values to try fields of the spec with, over the suite's own; `model` and `providerConfig` have none without this. */
  readonly samples?: Partial<AgentSpec> | undefined;
  readonly limits?: Partial<ConformanceLimits> | undefined;
  /** Ids of the checks to run, in the suite's own order; the others are reported as not verified. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Called when a check has ended, for runs that take long. */
  readonly onCheck?: ((check: CheckReport) => void) | undefined;
  /**
   * Called when a check exceeds `checkMs`, before its sessions are stopped and its provider is shut down. Ends the agent's
   * processes, in case the provider no longer can.
   */
  readonly onCheckTimeout?: ((checkId: string) => void | Promise<void>) | undefined;
  /** Ends the run early; what did not run is reported as not verified. */
  readonly signal?: AbortSignal | undefined;
}

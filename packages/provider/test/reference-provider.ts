// A provider that follows the whole contract and has every capability, with an agent that follows the first word of its prompt.
// The mutants that test the conformance suite are made from it; see mutants/.
import { setImmediate as nextRound } from "node:timers/promises";
import {
  type AgentCapabilities,
  type AgentHandle,
  type AgentProvider,
  type AgentSpec,
  type ProviderCallOptions,
  type IgnoredField,
  type SpawnOptions,
  IdempotentSpawns,
  openWithin,
  parseSpec,
  ProviderError,
  refuseIgnored,
} from "../src/index.ts";
import { raceCancel } from "../src/contract/cancelled.ts";
import { ReferenceHandle, referenceWorld, type ReferenceWorld } from "./reference-handle.ts";

export const REFERENCE_CAPABILITIES: AgentCapabilities = {
  supportsMessageInjection: true,
  supportsSessionResume: true,
  supportsSessionExport: true,
  supportsToolPlugins: true,
  needsBaseInstructions: true,
  needsPermissionConfig: true,
  supportsCodeIntelligenceEnforcement: true,
  emitsSubagentEvents: true,
  supportsReasoningEffort: true,
  toolPermissionFormat: "codex",
  acceptsAllowedToolsList: true,
  acceptsMcpServerSpec: true,
  humanLabel: "Reference",
};

export class ReferenceProvider implements AgentProvider {
  readonly name = "reference";
  readonly capabilities = REFERENCE_CAPABILITIES;
  readonly world: ReferenceWorld;
  readonly live = new Map<string, ReferenceHandle>();
  readonly #spawns = new IdempotentSpawns<AgentHandle>();
  #isShutDown = false;

  constructor(world: ReferenceWorld = referenceWorld()) {
    this.world = world;
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<AgentHandle> {
    this.#refuseWhenShutDown();
    return this.#spawns.once(spec, options, () => this.#open(crypto.randomUUID(), spec, options));
  }

  async resume(sessionId: string, spec: AgentSpec, options: ProviderCallOptions = {}): Promise<AgentHandle> {
    this.#idle(sessionId);
    return this.#open(sessionId, spec, options);
  }

  async export(sessionId: string): Promise<Uint8Array> {
    return new TextEncoder().encode(JSON.stringify({ sessionId, prompts: this.#idle(sessionId) }));
  }

  async import(bytes: Uint8Array): Promise<string> {
    this.#refuseWhenShutDown();
    const { sessionId, prompts } = readExport(bytes);
    this.world.sessions.set(sessionId, prompts);
    return sessionId;
  }

  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    for (const handle of this.live.values())
      handle.cutOff("provider_shutdown", "The provider was shut down.");
  }

  /** Simulates a crash of the agent that all sessions share. */
  crash(): void {
    for (const handle of this.live.values()) handle.cutOff("app_server_crashed", "The agent died.");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async #open(
    sessionId: string,
    unchecked: AgentSpec,
    { signal }: ProviderCallOptions,
  ): Promise<AgentHandle> {
    const spec = parseSpec(unchecked);
    const ignored = ignoredBy(spec);
    refuseIgnored(this.name, spec, ignored);
    return openWithin(spec, signal, async (session) => {
      const opened = spec.prompt === "open slowly" ? new Promise<never>(() => {}) : nextRound();
      await raceCancel(opened, session);
      this.#refuseWhenShutDown();
      if (this.world.working.has(sessionId)) throw busy(sessionId);
      const { sessions, working } = this.world;
      sessions.set(sessionId, [...(sessions.get(sessionId) ?? []), spec.prompt]);
      working.add(sessionId);
      spec.onProcessSpawned?.(process.pid);
      const handle = new ReferenceHandle(
        { sessionId, spec, ignored, signal: session, world: this.world },
        () => {
          working.delete(sessionId);
          this.live.delete(sessionId);
        },
      );
      this.live.set(sessionId, handle);
      return handle;
    });
  }

  #idle(sessionId: string): readonly string[] {
    this.#refuseWhenShutDown();
    const prompts = this.world.sessions.get(sessionId);
    if (!prompts) throw new ProviderError("session_not_found", `There is no session "${sessionId}".`);
    if (this.world.working.has(sessionId)) throw busy(sessionId);
    return prompts;
  }

  #refuseWhenShutDown(): void {
    if (this.#isShutDown) throw new ProviderError("shut_down", "The provider was shut down.");
  }
}

function ignoredBy(spec: AgentSpec): IgnoredField[] {
  if (spec.subAgentProvider === undefined) return [];
  return [{ field: "subAgentProvider", reason: "the agent starts its own" }];
}

function busy(sessionId: string): ProviderError {
  return new ProviderError("session_busy", `The session "${sessionId}" is running.`);
}

function readExport(bytes: Uint8Array): { sessionId: string; prompts: string[] } {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as { sessionId: string; prompts: string[] };
    if (typeof value.sessionId === "string" && Array.isArray(value.prompts)) return value;
  } catch {
    // Reported below.
  }
  throw new ProviderError("invalid_export", "The bytes are not an exported session.");
}

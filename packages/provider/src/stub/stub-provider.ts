import type { AgentProvider, ProviderCallOptions, SpawnOptions } from "../contract/agent-provider.ts";
import type { AgentSpec, SpecField } from "../contract/agent-spec.ts";
import type { AgentCapabilities } from "../contract/capabilities.ts";
import { IdempotentSpawns } from "../contract/idempotent-spawns.ts";
import { type IgnoredField, refuseIgnored } from "../contract/ignored-field.ts";
import { parseSpec } from "../contract/parse-spec.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { realClock, type StubClock } from "./stub-clock.ts";
import { StubHandle } from "./stub-handle.ts";
import { stubScript } from "./stub-script.ts";
import { type StubSession, StubSessions } from "./stub-sessions.ts";
import { settingsFor, type StubSettings } from "./stub-settings.ts";

export interface StubProviderOptions extends StubSettings {
  /** Default `stub`. */
  readonly name?: string | undefined;
  /** Capabilities that this stub does not have. Default: none. */
  readonly without?: readonly ("injection" | "resume" | "export")[] | undefined;
  /** Clock for tools and deadlines. Default: the system clock. */
  readonly clock?: StubClock | undefined;
  /** Session store. Default: a new one. */
  readonly sessions?: StubSessions | undefined;
}

const NOT_HONOURED: Partial<Record<SpecField, string>> = {
  cwd: "The stub does not access files.",
  env: "The stub runs nothing.",
  sandboxEnabled: "The stub runs nothing that could be confined.",
  sandboxLevel: "The stub runs nothing that could be confined.",
  allowedTools: "The stub's tools are a part of its script.",
  disallowedTools: "The stub's tools are a part of its script.",
  mcpStdioServers: "The stub connects to no servers.",
  mcpToolNames: "The stub connects to no servers.",
  model: "The stub has no model.",
  effort: "The stub has no model.",
  baseInstructions: "The stub takes no instructions other than its settings.",
  systemPromptAppend: "The stub takes no instructions other than its settings.",
  permissionConfig: "The stub never asks for permission.",
  codeIntelligenceEnforcement: "The stub reads no code.",
  subAgentProvider: "The stub starts no agents.",
  onProcessSpawned: "No process serves a stub's session.",
};

/**
 * A scripted agent for tests of runners. It needs no model, process or folder, and is deterministic.
 *
 * @example
 * await using provider = new StubProvider({ behaviour: "fail-on-clone" });
 * await using handle = await provider.spawn({ prompt: "Fix the build", cwd: "/srv/app" });
 * for await (const event of handle.events) console.log(event.kind);
 */
export class StubProvider implements AgentProvider {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  readonly #settings: StubSettings;
  readonly #clock: StubClock;
  readonly #sessions: StubSessions;
  readonly #live = new Set<StubHandle>();
  readonly #spawns = new IdempotentSpawns<StubHandle>();
  #shutDown = false;

  constructor(options: StubProviderOptions = {}) {
    const {
      name = "stub",
      without = [],
      clock = realClock,
      sessions = new StubSessions(),
      ...settings
    } = options;
    this.name = name;
    this.#clock = clock;
    this.#sessions = sessions;
    this.#settings = settingsFor({}, settings);
    this.capabilities = {
      supportsMessageInjection: !without.includes("injection"),
      supportsSessionResume: !without.includes("resume"),
      supportsSessionExport: !without.includes("export"),
      supportsToolPlugins: false,
      needsBaseInstructions: false,
      needsPermissionConfig: false,
      supportsCodeIntelligenceEnforcement: false,
      emitsSubagentEvents: false,
      supportsReasoningEffort: false,
      toolPermissionFormat: "codex",
      acceptsAllowedToolsList: false,
      acceptsMcpServerSpec: false,
      humanLabel: "Stub",
    };
  }

  async spawn(spec: AgentSpec, options: SpawnOptions = {}): Promise<StubHandle> {
    this.#refuseWhenShutDown();
    return this.#spawns.once(spec, options, async () =>
      this.#start(spec, options, ({ prompt }) => this.#sessions.create(prompt)),
    );
  }

  async resume(sessionId: string, spec: AgentSpec, options: ProviderCallOptions = {}): Promise<StubHandle> {
    return this.#start(spec, options, ({ prompt }) => {
      if (!this.capabilities.supportsSessionResume)
        throw new ProviderError("unsupported", "This stub does not resume sessions.");
      return this.#sessions.open(sessionId, prompt);
    });
  }

  async export(sessionId: string): Promise<Uint8Array> {
    this.#refuseTransfer();
    return this.#sessions.export(sessionId);
  }

  async import(bytes: Uint8Array): Promise<string> {
    this.#refuseTransfer();
    return this.#sessions.import(bytes);
  }

  shutdown(): Promise<void> {
    this.#shutDown = true;
    for (const handle of this.#live) handle.cutOff("provider_shutdown", "The stub was shut down.");
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  #start(
    unchecked: AgentSpec,
    { signal }: ProviderCallOptions,
    sessionFor: (spec: AgentSpec) => StubSession,
  ): StubHandle {
    this.#refuseWhenShutDown();
    if (signal?.aborted) {
      throw new ProviderError("context_cancelled", "The caller's signal fired before the stub began.", {
        cause: signal.reason,
      });
    }
    const spec = parseSpec(unchecked);
    const settings = settingsFor(this.#settings, spec.providerConfig);
    const ignored = ignoredBy(spec);
    refuseIgnored(this.name, spec, ignored);
    const { id, prompts } = sessionFor(spec);
    const handle = new StubHandle({
      sessionId: id,
      script: stubScript(settings, { prompt: spec.prompt, earlier: prompts.slice(0, -1) }),
      ignored,
      clock: this.#clock,
      limits: spec,
      injects: this.capabilities.supportsMessageInjection,
      signal,
      onEnd: (ended) => {
        this.#live.delete(ended);
        this.#sessions.release(id);
      },
    });
    this.#live.add(handle);
    return handle;
  }

  #refuseWhenShutDown(): void {
    if (this.#shutDown) throw new ProviderError("shut_down", `The provider "${this.name}" was shut down.`);
  }

  #refuseTransfer(): void {
    this.#refuseWhenShutDown();
    if (!this.capabilities.supportsSessionExport)
      throw new ProviderError("unsupported", "This stub does not export sessions.");
  }
}

function ignoredBy(spec: AgentSpec): IgnoredField[] {
  return (Object.entries(NOT_HONOURED) as [SpecField, string][])
    .filter(([field]) => spec[field] !== undefined)
    .map(([field, reason]) => ({ field, reason }));
}

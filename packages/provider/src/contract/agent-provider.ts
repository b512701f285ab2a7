import type { AgentEvent } from "./agent-event.ts";
import type { AgentSpec } from "./agent-spec.ts";
import type { AgentCapabilities } from "./capabilities.ts";
import type { IgnoredField } from "./ignored-field.ts";

/** Options of every call. */
export interface ProviderCallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface SpawnOptions extends ProviderCallOptions {
  /**
   * Makes `spawn` idempotent: the same key with the same spec returns the session of the first call. The handle is the same while
   * the provider remembers the key.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A session. Disposing it stops the agent. */
export interface AgentHandle extends AsyncDisposable {
  /** For `resume`, of this provider or another one on the same machine. */
  readonly sessionId: string;
  /** Fields of the spec that are not honoured. The `init` event has them too. */
  readonly ignored: readonly IgnoredField[];
  /** The events, for one reader. A reader that stops before the end stops the agent. */
  readonly events: AsyncIterable<AgentEvent>;
  /**
   * Sends text to the running agent.
   * @throws {ProviderError} `unsupported` if the capability is false, `session_ended` after the end.
   */
  inject(text: string, options?: ProviderCallOptions): Promise<void>;
  /** Ends the session with the result `stopped`. Resolves once the agent is idle. Can be called again. */
  stop(options?: ProviderCallOptions): Promise<void>;
}

/** Runs agents of one kind. */
export interface AgentProvider extends AsyncDisposable {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /**
   * Starts a session. If `signal` is aborted while the session is being opened, the call rejects; afterwards the session ends with
   * the error `context_cancelled`.
   */
  spawn(spec: AgentSpec, options?: SpawnOptions): Promise<AgentHandle>;
  /** Continues a session that has ended, on this provider or another. `spec.prompt` is the next prompt. */
  resume(sessionId: string, spec: AgentSpec, options?: ProviderCallOptions): Promise<AgentHandle>;
  /**
   * Returns a session that has ended as bytes, for `import` of another provider of this kind.
   * @throws {ProviderError} `unsupported` if `supportsSessionExport` is false, `session_not_found`, `session_busy`.
   */
  export(sessionId: string, options?: ProviderCallOptions): Promise<Uint8Array>;
  /**
   * Adds an exported session and returns its id for `resume`. Idempotent.
   * @throws {ProviderError} `unsupported`, `invalid_export`, and `session_busy` while the session is running.
   */
  import(bytes: Uint8Array, options?: ProviderCallOptions): Promise<string>;
  /** Ends every session with the error `provider_shutdown`, and then the agent. Can be called again. */
  shutdown(): Promise<void>;
}

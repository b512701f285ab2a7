import type { AgentEvent } from "./agent-event.ts";
import type { AgentSpec } from "./agent-spec.ts";
import type { AgentCapabilities } from "./capabilities.ts";
import type { IgnoredField } from "./ignored-field.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface SpawnOptions extends CallOptions {
  /**
   * Makes `spawn` idempotent: the same key with the same spec returns the session that the first call started, and the same
   * handle while the provider remembers it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** One agent at work. Disposing of it stops it. */
export interface AgentHandle extends AsyncDisposable {
  /** What `resume` takes, of this provider or of another on the same machine. */
  readonly sessionId: string;
  /** The fields of the spec that are not honoured; the `init` event has them too. */
  readonly ignored: readonly IgnoredField[];
  /** Everything that happens, for one reader. A reader that leaves before the end stops the agent. */
  readonly events: AsyncIterable<AgentEvent>;
  /**
   * Tells the agent something while it works.
   * @throws {ProviderError} `unsupported` where the capability is false, `session_ended` after the end.
   */
  inject(text: string, options?: CallOptions): Promise<void>;
  /** Ends the session, which tells `result` with `stopped`; resolves once the agent works no more. May be called again. */
  stop(options?: CallOptions): Promise<void>;
}

/** Agents of one kind. Its maker has probed for what it needs, so that it can spawn. */
export interface AgentProvider extends AsyncDisposable {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /**
   * Starts a session. `signal` is for its whole life: before there is a handle the call rejects, after that the session ends
   * with the error `context_cancelled`.
   */
  spawn(spec: AgentSpec, options?: SpawnOptions): Promise<AgentHandle>;
  /** Goes on with a session that has ended, here or elsewhere; `spec.prompt` is what to do now. */
  resume(sessionId: string, spec: AgentSpec, options?: CallOptions): Promise<AgentHandle>;
  /**
   * Returns a session that has ended as bytes, for `import` of another provider of this kind.
   * @throws {ProviderError} `unsupported` where `supportsSessionExport` is false, `session_not_found`, `session_busy`.
   */
  export(sessionId: string, options?: CallOptions): Promise<Uint8Array>;
  /**
   * Adds an exported session and returns its id for `resume`. Importing the same bytes again changes nothing.
   * @throws {ProviderError} `unsupported`, `invalid_export`, and `session_busy` while the session is running here.
   */
  import(bytes: Uint8Array, options?: CallOptions): Promise<string>;
  /** Ends every session with the error `provider_shutdown`, and then the agent. May be called again. */
  shutdown(): Promise<void>;
}

/** What went wrong with a call to a provider, for callers to match on. How a session ended is told by its last event. */
export type ProviderErrorCode =
  /** This provider can't do it, or can't honour a field that the spec marks as required. */
  | "unsupported"
  /** No provider of this name is registered. */
  | "no_provider"
  /** There is no such session to resume. */
  | "session_not_found"
  /** The session is in use: another handle has it here, or another process writes to it. */
  | "session_busy"
  /** The agent of this one session could not be started. */
  | "spawn_failed"
  /** The agent is missing, broken, or too old: found out when the provider is made. */
  | "provider_unavailable"
  /** The spec is not one: a wrong type, an unknown field, values that contradict each other. */
  | "invalid_spec"
  /** The session has ended; nothing can be told to it any more. */
  | "session_ended"
  /** The agent refused the text, or could not be reached with it. */
  | "inject_failed"
  /** The events of a handle have a reader already. */
  | "events_taken"
  /** The caller's `signal` fired before there was a handle. */
  | "context_cancelled"
  /** The provider was shut down. */
  | "shut_down";

/** The error of every call to a provider. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Where the credentials of the daemon's codex come from. */
export interface CredentialStatus {
  readonly kind: "apiKey" | "chatgpt" | "unusable" | "none";
  /** `options` are those of the daemon. */
  readonly source: "options" | "CODEX_API_KEY" | "OPENAI_API_KEY" | "auth.json" | null;
  /** Why credentials that were found can't be used. */
  readonly reason?: string;
  /** Of a ChatGPT login. */
  readonly email?: string;
  /** Milliseconds since the epoch, of a ChatGPT login. Codex renews it. */
  readonly expiresAt?: number;
}

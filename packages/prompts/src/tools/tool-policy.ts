import type { Session } from "../session/session.ts";

/** A call that a policy decides about. */
export interface PolicyCall {
  readonly tool: string;
  /** Parsed by the tool's schema. */
  readonly input: unknown;
  readonly session: Session;
  /** Whether a file exists in the evaluation's workspace. False without a workspace. */
  readonly fileExists: (path: string) => boolean;
}

export type PolicyVerdict = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** Decides whether a tool may be called. A policy that throws denies the call. */
export interface ToolPolicy {
  readonly name: string;
  /** Checks a call before its handler runs. */
  check(call: PolicyCall): PolicyVerdict | Promise<PolicyVerdict>;
  /** Records a successful call. State goes into the session, so that a rollback undoes it. */
  onSuccess?(call: PolicyCall): void | Promise<void>;
}

export const allow: PolicyVerdict = { allow: true };

export function deny(reason: string): PolicyVerdict {
  return { allow: false, reason };
}

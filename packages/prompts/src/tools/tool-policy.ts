import type { PromptSession } from "../session/session.ts";

/** A call for a policy to check. */
export interface PolicyCall {
  readonly tool: string;
  /** The input, parsed with the tool's schema. */
  readonly input: unknown;
  readonly session: PromptSession;
  /** Whether a file exists in the evaluation's workspace. False without a workspace. */
  readonly fileExists: (path: string) => boolean;
}

export type ToolPolicyVerdict = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** Decides whether a tool may be called. A policy that throws denies the call. */
export interface ToolPolicy {
  readonly name: string;
  /** Checks a call before its handler runs. */
  check(call: PolicyCall): ToolPolicyVerdict | Promise<ToolPolicyVerdict>;
  /** Records a successful call. Store state in the session, so that a rollback undoes it. */
  onSuccess?(call: PolicyCall): void | Promise<void>;
}

export const allow: ToolPolicyVerdict = { allow: true };

export function deny(reason: string): ToolPolicyVerdict {
  return { allow: false, reason };
}

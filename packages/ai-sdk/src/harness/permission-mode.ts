import type { HarnessV1PermissionMode } from "@ai-sdk/harness";
import type { CodexLanguageModelOptions } from "../model/options.ts";

/** What Codex may do without asking, in its own words. What needs more is asked for, as an approval of the call. */
export function permissions(
  mode: HarnessV1PermissionMode = "allow-all",
): Pick<CodexLanguageModelOptions, "sandbox" | "approvalPolicy"> {
  switch (mode) {
    case "allow-reads":
      return { sandbox: "read-only", approvalPolicy: "on-request" };
    case "allow-edits":
      return { sandbox: "workspace-write", approvalPolicy: "on-request" };
    case "allow-all":
      return { sandbox: "danger-full-access", approvalPolicy: "never" };
  }
}

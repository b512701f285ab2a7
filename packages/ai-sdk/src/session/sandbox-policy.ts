import type { v2 } from "codexkit";
import type { CodexLanguageModelOptions } from "../model/model-options.ts";

/** A sandbox by its name, as a turn takes it: there it has no name. */
export function sandboxPolicy(name: NonNullable<CodexLanguageModelOptions["sandbox"]>): v2.SandboxPolicy {
  switch (name) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}

// Intentional differences from the original. docs/compat.md lists each by name.
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { differences } from "./differential.ts";
import { outcome, watch } from "./program.ts";

differences({
  "the approval policy `untrusted`": {
    script: () => "done",
    run: async ({ codex, workspace }) => {
      const options = { workingDirectory: workspace, approvalPolicy: "untrusted" } as const;
      return (await watch(codex().startThread(options), "hi")).end;
    },
  },
  "a codex that exits with 0 and prints nothing": {
    script: [],
    run: async ({ codex, workspace, root }) => {
      const path = join(root, "silent");
      await writeFile(path, "#!/bin/sh\nread line\nexit 0\n");
      await chmod(path, 0o755);
      const thread = codex({ codexPathOverride: path }).startThread({ workingDirectory: workspace });
      return outcome(thread.run("hi"));
    },
  },
  "the error of a failed turn": {
    script: [],
    run: async ({ codex, workspace }) => {
      const error: unknown = await codex()
        .startThread({ workingDirectory: workspace })
        .run("hi")
        .catch((reason: unknown) => reason);
      const { reason, cause } = error as { reason?: string; cause?: unknown };
      return { reason, hasCause: cause !== undefined };
    },
  },
  "the methods of a `Codex`": {
    script: [],
    run: async ({ codex }) => ["close", "startThread"].map((name) => name in codex()),
  },
});

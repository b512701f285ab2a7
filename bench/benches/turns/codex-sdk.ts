import { Codex } from "@openai/codex-sdk";

import type { Contender } from "./contender.ts";

/** `@openai/codex-sdk`: a `codex exec` for each turn. It runs the same binary as the others, not the one that it brings. */
export const codexSdk: Contender = {
  async open({ codex: codexPathOverride, workspace, env }) {
    const codex = new Codex({ codexPathOverride, env: { ...env } });
    const closing = new AbortController();
    const running = new Set<Promise<unknown>>();
    return {
      async startThread() {
        const thread = codex.startThread({
          workingDirectory: workspace,
          sandboxMode: "read-only",
          approvalPolicy: "never",
          skipGitRepoCheck: true,
        });
        return {
          async run(prompt) {
            const turn = thread.run(prompt, { signal: closing.signal });
            running.add(turn);
            try {
              return (await turn).finalResponse;
            } finally {
              running.delete(turn);
            }
          },
        };
      },
      async [Symbol.asyncDispose]() {
        closing.abort();
        await Promise.allSettled(running);
      },
    };
  },
};

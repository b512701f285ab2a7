import { Codex } from "@openai/codex-sdk";
import { Codex as CompatCodex } from "codexkit/compat";

import type { Contender } from "./contender.ts";

/**
 * `@openai/codex-sdk`: one `codex exec` per turn. It runs the same binary as the others instead of its own.
 */
export const codexSdk: Contender = sdkContender(
  (options) => new Codex(options),
  async () => {},
);

/** `codexkit/compat`: the same program on a long-lived codex that loads the thread for each turn. */
export const compat: Contender = sdkContender(
  (options) => new CompatCodex(options),
  (codex) => codex.close(),
);

interface Options {
  readonly codexPathOverride: string;
  readonly env: Record<string, string>;
}

function sdkContender<Sdk extends Codex | CompatCodex>(
  make: (options: Options) => Sdk,
  close: (codex: Sdk) => Promise<void>,
): Contender {
  return {
    async open({ codex: codexPathOverride, workspace, env }) {
      const codex = make({ codexPathOverride, env: { ...env } });
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
          await close(codex);
        },
      };
    },
  };
}

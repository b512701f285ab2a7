import { Codex } from "codexkit";

import { EXIT_TIMEOUT_MS } from "./codex-home.ts";
import type { AppServerContender } from "./contender.ts";
import { threadSettings } from "./thread-settings.ts";

/** The typical use. */
export const ours: AppServerContender = {
  async open({ codex: codexPath, workspace, env }) {
    const codex = await Codex.launch({
      codexPath,
      cwd: workspace,
      env,
      inheritEnv: false,
      processLimits: { exitTimeoutMs: EXIT_TIMEOUT_MS, terminateTimeoutMs: 0 },
    });
    return {
      async startThread(options) {
        const thread = await codex.startThread(threadSettings(workspace, options));
        return {
          run: async (prompt) => (await thread.run(prompt)).finalResponse,
          async stream(prompt) {
            let text = "";
            for await (const event of thread.run(prompt)) {
              if (event.type === "item.delta" && event.kind === "message") text += event.delta;
            }
            return text;
          },
        };
      },
      [Symbol.asyncDispose]: () => codex.close(),
    };
  },
};
